import { Option } from 'commander';
import type { TargetOptions } from '../target.js';

/** Options of commands that print CSV. */
export interface CsvOptions extends TargetOptions {
  readonly separator: 'comma' | 'semicolon';
}

export const separatorOption = () =>
  new Option('--separator <name>', 'with --csv, what stands between the cells: a semicolon for Excel in French')
    .choices(['comma', 'semicolon'])
    .default('comma');
