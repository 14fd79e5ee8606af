import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Files in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface Authority extends Certificate {
  /** A certificate of this authority for a server on 127.0.0.1, or for a client. */
  issue(name: string): Promise<Certificate>;
}

/** An authority that signs certificates, kept in the folder, by openssl. */
export async function createAuthority(folder: string, name: string): Promise<Authority> {
  const own = { cert: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) };
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  await openssl('req', '-x509', ...newKey, '-subj', `/CN=${name}`, '-days', '2', '-keyout', own.key, '-out', own.cert);
  return {
    ...own,
    async issue(subject) {
      const issued = { cert: join(folder, `${subject}.crt`), key: join(folder, `${subject}.key`) };
      const request = join(folder, `${subject}.csr`);
      const extensions = join(folder, `${subject}.ext`);
      await writeFile(extensions, 'basicConstraints=CA:FALSE\nsubjectAltName=IP:127.0.0.1,DNS:temporal.example\n');
      await openssl('req', ...newKey, '-subj', `/CN=${subject}`, '-keyout', issued.key, '-out', request);
      const signing = ['-CA', own.cert, '-CAkey', own.key, '-CAcreateserial', '-days', '2'];
      await openssl('x509', '-req', '-in', request, ...signing, '-extfile', extensions, '-out', issued.cert);
      return issued;
    },
  };
}

export const readPem = (path: string): Promise<string> => readFile(path, 'utf8');

const openssl = (...args: string[]) => promisify(execFile)('openssl', args);
