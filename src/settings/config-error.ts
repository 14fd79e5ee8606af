/** Thrown for settings that are wrong. Its message has one line for each. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
