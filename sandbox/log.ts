/** Takes one event and its details, which never include a phone, an e-mail, a name or a credential. */
export type Log = (event: string, details: Readonly<Record<string, unknown>>) => void;
