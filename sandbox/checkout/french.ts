import type { Texts } from './texts.js';

export const french: Texts = {
  currency: 'FCFA',
  inDouala: (time) => `${time} (heure de Douala)`,
  sandbox: 'Environnement de test.',
  noRealMoney: 'Aucun argent réel ne circule ici.',
  footer: 'Page de paiement de test',

  amount: 'Montant',
  merchant: 'Commerçant',
  purpose: 'Motif',
  reference: 'Référence',

  form: {
    title: (amount, merchant) => `Payer ${amount} à ${merchant}`,
    titleAfterError: (title) => `Erreur\u00a0: ${title}`,
    payee: (merchant) => `Payer à ${merchant}`,
    whatYouPay: 'Ce que vous payez',
    howYouPay: 'Comment vous payez',
    payBy: 'À payer avant le',
    mayEndSooner: 'Le commerçant peut fermer le lien plus tôt.',
    phone: 'Numéro mobile à débiter',
    forExample: 'Par exemple',
    medium: 'Payer avec',
    detectMedium: "Détecter d'après mon numéro",
    email: 'E-mail pour le reçu',
    optional: '(facultatif)',
    pay: (amount) => `Payer ${amount}`,
    decline: 'Refuser',
  },
  errors: {
    noAction: 'Choisissez de payer ou de refuser.',
    unreadable: "Le formulaire n'a pas pu être lu. Rien n'a été débité. Réessayez.",
    noPhone: 'Saisissez le numéro mobile à débiter.',
    badPhone: "Ce n'est pas un numéro mobile camerounais. Saisissez neuf chiffres commençant par 6.",
    badMedium: 'Choisissez une de ces options.',
    unknownOperator: "L'opérateur de ce numéro est inconnu. Choisissez Mobile Money ou Orange Money.",
    badEmail: 'Saisissez une adresse comme nom@example.com, ou laissez ce champ vide.',
  },
  failures: {
    declinedByPayer: {
      text: 'Vous avez refusé le paiement.',
      title: (title) => `Refusé, réessayez\u00a0: ${title}`,
    },
    withdrawnByPayer: {
      text: 'La demande a été annulée.',
      title: (title) => `Annulé, réessayez\u00a0: ${title}`,
    },
    declinedByOperator: {
      text: 'Le paiement a été refusé.',
      title: (title) => `Refusé, réessayez\u00a0: ${title}`,
    },
  },
  tryAgain: "Rien n'a été débité. Vous pouvez réessayer ci-dessous.",

  testNumbers: 'Numéros de test',
  testNumbersHint: (example) =>
    `Tout numéro convient, par exemple ${example}. Ses trois derniers chiffres décident du résultat\u00a0:`,
  testOutcomes: {
    '0': 'réussit aussitôt',
    '1': 'échoue aussitôt',
    '2': 'réussit après SS secondes',
    '3': 'échoue après SS secondes',
    '4': 'réussit après MM minutes',
    '5': 'échoue après MM minutes',
    '6': 'réussit après HH heures',
    '7': 'échoue après HH heures',
    '8': "reste PENDING jusqu'à une décision manuelle",
    '9': 'réussit aussitôt',
  },

  pending: {
    title: (amount, merchant) => `Confirmez sur votre téléphone\u00a0: ${amount} à ${merchant}`,
    heading: 'Confirmez sur votre téléphone',
    asked: (number) =>
      number === undefined
        ? 'Saisissez votre code secret quand votre téléphone le demande.'
        : `La demande a été envoyée au ${number}. Saisissez votre code secret quand ce téléphone le demande.`,
    updates: "Cette page se met ensuite à jour d'elle-même.",
    checkNow: 'Vérifier maintenant',
    wrongNumber: 'Mauvais numéro\u00a0? Annulez cette demande, puis saisissez un autre numéro.',
    useAnother: 'Utiliser un autre numéro',
  },
  receipt: {
    title: (amount, merchant) => `Payé\u00a0: ${amount} à ${merchant}`,
    heading: 'Paiement reçu',
    thanks: (merchant) => `Merci. ${merchant} en sera informé.`,
    headingAgain: 'Déjà payé',
    notChargedAgain: "Ce paiement a déjà été effectué. Vous n'avez pas été débité une seconde fois.",
    paidWith: 'Payé avec',
    paidOn: 'Payé le',
    operatorReference: "Référence de l'opérateur",
    returnTo: (merchant) => `Retourner chez ${merchant}`,
  },
  expired: {
    heading: 'Ce lien ne peut plus être utilisé',
    atItsTime: (time) => `Il pouvait être payé jusqu'au ${time}.`,
    earlier: "Son délai est écoulé, ou le commerçant l'a fermé.",
    askAgain: (merchant) => `Rien n'a été débité. Pour payer, demandez un nouveau lien à ${merchant}.`,
  },
  notFound: {
    heading: 'Lien de paiement introuvable',
    text: "Vérifiez que vous avez copié l'adresse entière, ou redemandez le lien au commerçant.",
  },
};
