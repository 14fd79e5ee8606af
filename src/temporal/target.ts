import type { TLSConfig } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';

/** The namespace that Temporal itself creates, and the one used when no other is named. */
export const DEFAULT_NAMESPACE = 'default';

const DEFAULT_ADDRESS = '127.0.0.1:7233';

/** Which Temporal server and namespace to talk to, and with what credentials. */
export interface TemporalTarget {
  /** `host:port` */
  readonly address: string;
  readonly namespace: string;
  readonly tls?: TLSConfig | boolean;
  readonly apiKey?: string;
  readonly metadata?: Record<string, string>;
}

/**
 * Reads where Temporal is, as Temporal's own tools do: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY,
 * TEMPORAL_TLS…, and the configuration file with its profiles. Without any of them, 127.0.0.1:7233 and `default`.
 *
 * @throws Error when the configuration file or a certificate that it names cannot be read.
 */
export function loadTemporalTarget(env: NodeJS.ProcessEnv = process.env): TemporalTarget {
  const overrideEnvVars: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    // `TEMPORAL_ADDRESS=` in a .env file means "not set", never the empty address.
    const says = value !== undefined && (value !== '' || meaningfulWhenEmpty.has(name));
    if (says) overrideEnvVars[name] = value;
  }

  const { connectionOptions, namespace } = loadClientConnectConfig({ overrideEnvVars });
  const { address, tls, apiKey, metadata } = connectionOptions;
  return {
    address: address ?? DEFAULT_ADDRESS,
    namespace: namespace ?? DEFAULT_NAMESPACE,
    ...(tls !== undefined && tls !== null && { tls }),
    ...(typeof apiKey === 'string' && apiKey !== '' && { apiKey }),
    ...(metadata !== undefined && { metadata: textOnly(metadata) }),
  };
}

/** Empty, these turn off what the machine's own configuration file would say. */
const meaningfulWhenEmpty = new Set(['TEMPORAL_CONFIG_FILE', 'TEMPORAL_PROFILE']);

/**
 * The environment that leads a child process to exactly this server without TLS or credentials, whatever the
 * machine's Temporal configuration file says.
 */
export function plainTargetEnvironment(target: Pick<TemporalTarget, 'address' | 'namespace'>) {
  return {
    TEMPORAL_ADDRESS: target.address,
    TEMPORAL_NAMESPACE: target.namespace,
    TEMPORAL_TLS: 'false',
    TEMPORAL_API_KEY: '',
    TEMPORAL_CONFIG_FILE: '',
    TEMPORAL_PROFILE: '',
  };
}

function textOnly(metadata: Record<string, unknown>): Record<string, string> {
  const entries = Object.entries(metadata);
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
