/**
 * Retention of ended workflows in a namespace that is made for Sanaga, in days: for so long operators can look in
 * Temporal's Web UI at what was done for a payment. Sanaga needs none of it, as all stays in the book.
 */
export const RETENTION_DAYS = 30;

/** Something that payments need and a namespace lacks; types are named as in Temporal's command line. */
export type SetupGap =
  /** There is no such namespace. */
  | { readonly kind: 'namespace' }
  /** It has no such search attribute. */
  | { readonly kind: 'missing'; readonly name: string; readonly type: string }
  /** It has the search attribute with another type. */
  | { readonly kind: 'type'; readonly name: string; readonly type: string; readonly actual: string }
  /** Its database has no room for search attributes of this type that it lacks, because others have theirs there. */
  | { readonly kind: 'room'; readonly type: string; readonly others: readonly string[] };

/** Describes a gap of a namespace in a sentence. */
export function describeGaps(namespace: string, gaps: readonly SetupGap[]): string {
  // A missing namespace lacks everything else, too; one without room has to be another.
  const decisive = gaps.filter(({ kind }) => kind === 'namespace' || kind === 'room');
  const said = decisive.length > 0 ? decisive : gaps;
  return `The Temporal namespace ${namespace} ${said.map(describeGap).join(', ')}.`;
}

function describeGap(gap: SetupGap): string {
  switch (gap.kind) {
    case 'namespace':
      return "doesn't exist";
    case 'missing':
      return `has no search attribute ${gap.name} (${gap.type})`;
    case 'type':
      return `has the search attribute ${gap.name} as ${gap.actual} instead of ${gap.type}`;
    case 'room': {
      const others = gap.others.join(', ');
      return `has no room for Sanaga's search attributes of type ${gap.type} beside those of others: ${others}`;
    }
  }
}

/** Says in lines how to close the gaps, with commands of Temporal's command line against the same server. */
export function howToSetUp(namespace: string, gaps: readonly SetupGap[]): string[] {
  const indented = (commands: readonly string[]) => commands.map((command) => `  ${command}`);
  if (gaps.some(({ kind }) => kind === 'room')) {
    return [
      'Remove search attributes that nobody uses any more, or give Sanaga a namespace of its own: make one, set',
      'TEMPORAL_NAMESPACE to its name, and start again.',
      ...indented(setupCommands('sanaga', [{ kind: 'namespace' }])),
    ];
  }
  return [
    "Set it up with Temporal's command line, against the same server, and start again:",
    ...indented(setupCommands(namespace, gaps)),
    ...(gaps.some(({ kind }) => kind === 'type')
      ? ['If others use what is to be removed, set TEMPORAL_NAMESPACE to a namespace for Sanaga alone instead.']
      : []),
  ];
}

/** The commands of Temporal's command line that close the gaps. */
export function setupCommands(namespace: string, gaps: readonly SetupGap[]): string[] {
  const command = (what: string, options: string) => `temporal operator ${what} --namespace ${namespace} ${options}`;
  const commandsFor = (gap: SetupGap): string[] => {
    switch (gap.kind) {
      case 'namespace':
        return [command('namespace create', `--retention ${RETENTION_DAYS}d`)];
      case 'missing':
        return [command('search-attribute create', `--name ${gap.name} --type ${gap.type}`)];
      case 'room':
        return [];
      case 'type':
        return [
          command('search-attribute remove', `--name ${gap.name}`),
          command('search-attribute create', `--name ${gap.name} --type ${gap.type}`),
        ];
    }
  };
  return gaps.flatMap(commandsFor);
}
