/*
 * Which way imports may point, checked by `npm run check`. Each rule says why it is there;
 * test/dependency-rules.test.ts shows that each can fail.
 *
 *   server ─▶ api ─▶ engine, http;  engine ─▶ book, payments, provider, temporal, the workflows' messages
 *   codec-server ─▶ codec ─▶ temporal, http
 *   desk ─▶ schemas, http;  schemas ─▶ payments, reconciliation
 *   worker ─▶ workflows ─▶ payments;  activities ─▶ book, provider ─▶ payments
 *   worker ─▶ delivery ─▶ book ─▶ payments, reconciliation, temporal
 *   worker ─▶ statements ─▶ engine, reconciliation, provider, book
 *   reconciliation ─▶ payments
 *   cli ─▶ client, stack, src;  stack ─▶ src;  lab ─▶ stack, sandbox, src;  bench ─▶ stack, src
 *   client ─▶ nothing at all;  examples ─▶ client
 *   sandbox ─▶ the provider's wire schemas, and nothing else of ours
 */

/** Every file of the project's code. */
const OURS = '^(src|bench|client|cli|examples|lab|sandbox|stack|test)/';

/** What Node or Temporal is pointed at by a file name, so that no import leads to it. */
const ENTRIES = [
  '^src/(migrate|payers|replay|server|worker|codec-server|desk|worker/workflow-thread)\\.ts$',
  '^src/temporal/(failure|payload)-converter\\.ts$',
  '^client/index\\.ts$',
  '^(bench|cli|sandbox|examples/[^/]+)/main\\.ts$',
  '^examples/[^/]+/start\\.js$',
  '^bench/(growth|load|soak)/main\\.ts$',
  '^bench/soak/heap-probe\\.ts$',
  '^lab/(explore|simulate|chaos)\\.ts$',
  '^lab/explore/walk-worker\\.ts$',
  '^lab/world/(worker-main|workflow-timers)\\.ts$',
  '^src/workflows/index\\.ts$',
];

const forbid = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    forbid(
      'payments-are-pure',
      'The rules about money, time and status run inside workflows and are tested without anything around them: no ' +
        'input or output, no package, no other part of ours.',
      {
        path: '^src/payments/',
        pathNot: '^src/payments/(words/(derive-payment-id|order-digest)|machine/state-schema)\\.ts$',
      },
      { pathNot: '^src/payments/' },
    ),
    forbid(
      'reconciliation-is-pure',
      "Comparing a day with the provider's list is a rule about money, too.",
      { path: '^src/reconciliation/' },
      { pathNot: '^src/(reconciliation|payments)/' },
    ),
    forbid(
      'engine-is-the-door-to-payments',
      'It orders, reads and changes payments, in the book and by Temporal, whoever asks for it.',
      { path: '^src/engine/' },
      {
        path: '^src/',
        pathNot: [
          '^src/(engine|book|payments|provider|settings|telemetry|temporal|text|workflows)/',
          '^src/process/(repeat|shutdown)\\.ts$',
        ],
      },
    ),
    forbid(
      'engine-knows-no-http',
      'Statements and the worker ask it, too: its errors are its own, and the API says what they are in HTTP.',
      { path: '^src/engine/' },
      { path: '^(src/http/|src/api/|http$|https$|node_modules/express/)' },
    ),
    forbid(
      'http-knows-no-payment',
      'Any server of ours is built on it, also those that have nothing to do with payments.',
      { path: '^src/http/' },
      {
        path: '^src/(activities|api|book|codec|delivery|desk|engine|payments|provider|reconciliation|statements|worker|workflows)/',
      },
    ),
    forbid(
      'payment-ids-need-a-hash-alone',
      'Deriving an id from an Idempotency-Key is a rule of the domain, and needs SHA-256: the one built-in of Node there.',
      { path: '^src/payments/words/derive-payment-id\\.ts$' },
      { pathNot: ['^src/payments/', '^(node:)?crypto$'] },
    ),
    forbid(
      'state-schema-needs-zod-alone',
      'What is kept of a payment is parsed, by a library that is as pure as the rules.',
      { path: '^src/payments/machine/state-schema\\.ts$' },
      { pathNot: ['^src/payments/', 'node_modules/zod/mini/'] },
    ),
    forbid(
      'workflows-never-hash',
      'A workflow has no node:crypto: ids are derived before it starts.',
      { path: '^src/workflows/' },
      { path: '^src/payments/words/derive-payment-id\\.ts$', reachable: true },
    ),
    forbid(
      'workflows-are-deterministic',
      "A workflow is replayed, so it may use nothing but the domain, Temporal's workflow API, and what is as pure.",
      { path: '^src/workflows/' },
      {
        pathNot: [
          '^src/(workflows|payments|reconciliation)/',
          '^src/(activities|book)/',
          '^src/temporal/(search-attributes|failure-converter)\\.ts$',
          'node_modules/@temporalio/(workflow|common)/',
          'node_modules/zod/mini/',
        ],
      },
    ),
    forbid(
      'workflows-know-activities-by-type',
      'An activity imported as a value would run inside the workflow, with the whole world behind it.',
      { path: '^src/workflows/' },
      { path: '^src/(activities|book)/', dependencyTypesNot: ['type-only'] },
    ),
    forbid(
      'search-attributes-go-into-the-bundle',
      'They and the converters are part of the workflows, so what holds for workflows holds for them.',
      { path: '^src/temporal/(search-attributes|failure-converter|payload-converter)\\.ts$' },
      { pathNot: 'node_modules/@temporalio/common/' },
    ),
    forbid(
      'activities-only-call',
      'An activity does what the book has decided: it knows the provider and the domain, never who asked for it.',
      { path: '^src/activities/' },
      {
        path: '^src/',
        pathNot: ['^src/(activities|book|provider|payments)/', '^src/temporal/search-attributes\\.ts$'],
      },
    ),
    forbid(
      'provider-knows-the-domain-alone',
      "The client turns the provider's answers into the domain's words. What is done about them is not its business.",
      { path: '^src/provider/' },
      { path: '^src/', pathNot: '^src/(provider|payments|text)/' },
    ),
    forbid(
      'api-is-a-front-door',
      'The API translates between HTTP and the engine; it runs no activity and starts no process.',
      { path: '^src/api/' },
      {
        path: '^src/',
        pathNot: [
          '^src/(api|book|engine|http|payments|provider|reconciliation|schemas|settings|telemetry|temporal|text|workflows)/',
          '^src/process/shutdown\\.ts$',
        ],
      },
    ),
    forbid(
      'workflows-are-known-by-their-messages',
      'Workflow code in the API or the book would be a second copy, of another version than the one that runs.',
      { path: '^src/(api|book|engine|statements)/' },
      { path: '^src/workflows/', pathNot: '^src/workflows/messages\\.ts$' },
    ),
    forbid(
      'codec-only-reads',
      'The codec server decrypts what it is given, for those who may read it. It knows no payment.',
      { path: '^src/codec/' },
      { path: '^src/', pathNot: ['^src/(codec|http|temporal)/', '^src/settings/merchants\\.ts$'] },
    ),
    forbid(
      'book-knows-the-rules-alone',
      'It keeps what is so, by the rules of payments: it asks nobody, and knows nobody who asks it.',
      { path: '^src/book/' },
      { path: '^src/', pathNot: '^src/(book|payments|reconciliation|temporal)/' },
    ),
    forbid(
      'sql-is-the-books',
      'Who can write to the database can send money: what is written, and under which locks, stands in one room.',
      { path: '^src/', pathNot: '^src/book/' },
      { path: 'node_modules/(pg|node-pg-migrate)/' },
    ),
    forbid(
      'delivery-only-tells',
      'It tells merchants what the book says. Nothing of it decides, and none of it speaks to the provider.',
      { path: '^src/delivery/' },
      { path: '^src/', pathNot: ['^src/(delivery|book|payments)/', '^src/provider/http\\.ts$'] },
    ),
    forbid(
      'statements-reach-payments-as-the-api-does',
      'They read the book and ask the provider. Payments they reach by the engine, so that there is one way to open one again.',
      { path: '^src/statements/' },
      {
        path: '^src/',
        pathNot: [
          '^src/(statements|book|engine|payments|provider|reconciliation|workflows)/',
          '^src/process/shutdown\\.ts$',
        ],
      },
    ),
    forbid(
      'statements-are-for-the-worker',
      'They are made by its activities. To read one is to read the book.',
      { path: OURS, pathNot: ['^src/statements/', '^src/worker\\.ts$', '^test/'] },
      { path: '^src/statements/' },
    ),
    forbid(
      'temporal-is-only-a-connection',
      'Connecting to Temporal is the same whatever runs on it.',
      { path: '^src/temporal/' },
      { path: '^src/', pathNot: '^src/temporal/' },
    ),
    forbid(
      'sandbox-is-another-company',
      "The sandbox plays the provider. Sharing our rules with it would let one mistake hide on both sides; only the interface's own words are shared.",
      { path: '^sandbox/' },
      { path: OURS, pathNot: ['^sandbox/', '^src/provider/(schemas|contact)\\.ts$'] },
    ),
    forbid(
      'settings-depend-on-nothing',
      'Every process reads its settings first; from the domain they take its limits.',
      { path: '^src/settings/' },
      { path: '^src/', pathNot: '^src/(settings|payments|text)/' },
    ),
    forbid(
      'api-is-for-the-server',
      'Nothing else may be built on the front door.',
      { path: '^src/', pathNot: ['^src/api/', '^src/server\\.ts$'] },
      { path: '^src/api/' },
    ),
    forbid(
      'desk-is-a-caller-of-the-api',
      'It sees and does what the API lets its operator see and do, over HTTP: a page that everybody in the house can open ' +
        'must not be a way to Temporal or to the provider. It shares how the API describes its answers, serves HTTP and logs.',
      { path: '^src/desk(/|\\.ts$)' },
      {
        path: '^src/',
        pathNot: ['^src/desk/', '^src/(http|payments|process|schemas|settings|telemetry|text)/'],
      },
    ),
    forbid(
      'schemas-describe',
      'The API and its callers share them: they say what an answer looks like, and nothing of how it comes about.',
      { path: '^src/schemas/' },
      {
        path: '^src/',
        pathNot: [
          '^src/(schemas|payments|reconciliation)/',
          '^src/settings/merchants\\.ts$',
          '^src/http/problem\\.ts$',
          '^src/workflows/messages\\.ts$',
        ],
      },
    ),
    forbid(
      'desk-is-for-its-process',
      'Nothing else shows pages to operators.',
      { path: OURS, pathNot: ['^src/desk/', '^src/desk\\.ts$', '^test/'] },
      { path: '^src/desk/' },
    ),
    forbid(
      'product-stands-alone',
      'src is all that production has: nothing that handles real money may know a sandbox, a test or a tool.',
      { path: '^src/' },
      { path: '^(bench|client|cli|examples|lab|sandbox|scripts|stack|test)/' },
    ),
    forbid(
      'product-needs-no-dev-dependency',
      'It would be missing where the project runs. Types are gone by then.',
      { path: '^src/' },
      { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'], pathNot: 'node_modules/@types/' },
    ),
    forbid(
      'client-needs-nothing',
      "It runs at the merchant's, on Node and in edge runtimes: no package, no built-in of Node, nothing else of ours, " +
        'not even a type, since its declarations are published with it.',
      { path: '^client/' },
      { pathNot: '^client/' },
    ),
    forbid(
      'client-has-one-door',
      'What merchants import is what everyone imports: the rest can change.',
      { path: OURS, pathNot: '^(client|test)/' },
      { path: '^client/', pathNot: '^client/index\\.ts$' },
    ),
    forbid(
      'examples-are-a-merchants',
      'A merchant copies an example into a project of his own: what it imports of ours, he must have, and that is the client.',
      { path: '^examples/' },
      { path: OURS, pathNot: ['^examples/', '^client/index\\.ts$'] },
    ),
    forbid(
      'examples-import-the-package',
      "By its path in this repository, the client isn't where a merchant has it.",
      { path: '^examples/' },
      { path: '^client/', dependencyTypesNot: ['aliased'] },
    ),
    forbid(
      'examples-are-for-nobody',
      'They are to be read and copied. Nothing may need them to stay as they are.',
      { path: OURS, pathNot: '^(examples|test)/' },
      { path: '^examples/' },
    ),
    forbid(
      'stack-knows-the-product-alone',
      'It brings up Temporal and the processes. What is played on them is not its business. Of the sandbox it knows the ' +
        'settings, since it checks those of every process before it starts one.',
      { path: '^stack/' },
      { path: OURS, pathNot: ['^(stack|src)/', '^sandbox/settings\\.ts$'] },
    ),
    forbid(
      'exploration-knows-the-machine-alone',
      'What is explored is pure: the machine.',
      { path: '^lab/explore/' },
      { path: OURS, pathNot: ['^lab/explore/', '^src/payments/'] },
    ),
    forbid(
      'lab-is-for-nobody',
      'Whatever is tried there, nothing else may lean on it.',
      { path: OURS, pathNot: '^(lab|test)/' },
      { path: '^lab/' },
    ),
    forbid(
      'bench-measures-from-outside',
      'It starts the systems that it compares, and sees no more of ours than of the others. Nothing leans on it.',
      { path: OURS, pathNot: '^(bench|test)/' },
      { path: '^bench/' },
    ),
    forbid(
      'processes-are-imported-by-nobody',
      'They start when they are imported.',
      { path: OURS, pathNot: ['^(cli|test)/', '^examples/[^/]+/start\\.js$'] },
      {
        path: [
          '^src/(migrate|payers|replay|server|worker|codec-server|desk|worker/workflow-thread)\\.ts$',
          '^(bench|cli|sandbox|examples/[^/]+)/main\\.ts$',
          '^bench/(growth|load|soak)/main\\.ts$',
          '^bench/soak/heap-probe\\.ts$',
          '^lab/(explore|simulate|chaos)\\.ts$',
        ],
      },
    ),
    forbid(
      'tests-are-for-nobody',
      'What runs may not depend on what tests it.',
      { path: OURS, pathNot: '^test/' },
      { path: '^(test|scripts)/' },
    ),
    forbid(
      'packages-are-declared',
      'A package that another one happened to bring may be gone tomorrow.',
      {},
      { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    ),
    forbid('imports-resolve', 'It would fail when run.', {}, { couldNotResolve: true }),
    forbid('no-circles', 'Two files that need each other are one subject, or three.', {}, { circular: true }),
    forbid(
      'no-orphans',
      'Nothing imports it and it imports nothing: it is forgotten, or not wired up.',
      // jest.config.js names the file that ends what its setup has started.
      { orphan: true, pathNot: ['\\.d\\.ts$', '\\.test\\.ts$', '^test/support/stop-book-server\\.ts$', ...ENTRIES] },
      {},
    ),
    forbid(
      'nothing-is-dead',
      'No process of ours ever runs it. What only tests use belongs into test/.',
      { path: ENTRIES },
      { path: OURS, pathNot: [...ENTRIES, '^test/'], reachable: false },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Packages of their own, which import nothing of ours: test/bench/peers.test.ts.
    exclude: { path: '^bench/peers/' },
    // Imports of types count: a type says as much about who knows whom as a value does.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      mainFields: ['module', 'main', 'types'],
    },
  },
};
