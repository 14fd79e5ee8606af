import type { Texts } from './texts.js';

export const english: Texts = {
  currency: 'XAF',
  inDouala: (time) => `${time} (Douala time)`,
  sandbox: 'Sandbox.',
  noRealMoney: 'No real money moves here.',
  footer: 'Sandbox payment page',

  amount: 'Amount',
  merchant: 'Merchant',
  purpose: 'For',
  reference: 'Reference',

  form: {
    title: (amount, merchant) => `Pay ${amount} to ${merchant}`,
    titleAfterError: (title) => `Error: ${title}`,
    payee: (merchant) => `Pay ${merchant}`,
    whatYouPay: 'What you pay',
    howYouPay: 'How you pay',
    payBy: 'Pay by',
    mayEndSooner: 'The merchant may close the link sooner.',
    phone: 'Mobile number to charge',
    forExample: 'For example',
    medium: 'Pay with',
    detectMedium: 'Detect from my number',
    email: 'E-mail for the receipt',
    optional: '(optional)',
    pay: (amount) => `Pay ${amount}`,
    decline: 'Decline',
  },
  errors: {
    noAction: 'Choose to pay or to decline.',
    unreadable: 'The form could not be read. Nothing was charged. Try again.',
    noPhone: 'Enter the mobile number to charge.',
    badPhone: 'This is not a Cameroonian mobile number. Enter nine digits, starting with 6.',
    badMedium: 'Choose one of these options.',
    unknownOperator: 'The operator of this number is unknown. Choose Mobile Money or Orange Money.',
    badEmail: 'Enter an address like name@example.com, or leave this field empty.',
  },
  failures: {
    declinedByPayer: {
      text: 'You declined the payment.',
      title: (title) => `Declined, try again: ${title}`,
    },
    withdrawnByPayer: {
      text: 'The request was withdrawn.',
      title: (title) => `Withdrawn, try again: ${title}`,
    },
    declinedByOperator: {
      text: 'The payment was declined.',
      title: (title) => `Declined, try again: ${title}`,
    },
  },
  tryAgain: 'Nothing was charged. You can try again below.',

  testNumbers: 'Test numbers',
  testNumbersHint: (example) => `Any number works, for example ${example}. Its last three digits decide the outcome:`,
  testOutcomes: {
    '0': 'succeeds at once',
    '1': 'fails at once',
    '2': 'succeeds after SS seconds',
    '3': 'fails after SS seconds',
    '4': 'succeeds after MM minutes',
    '5': 'fails after MM minutes',
    '6': 'succeeds after HH hours',
    '7': 'fails after HH hours',
    '8': 'stays PENDING until it is settled manually',
    '9': 'succeeds at once',
  },

  pending: {
    title: (amount, merchant) => `Confirm on your phone: ${amount} to ${merchant}`,
    heading: 'Confirm on your phone',
    asked: (number) =>
      number === undefined
        ? 'Enter your PIN when your phone asks for it.'
        : `The request went to ${number}. Enter your PIN when that phone asks for it.`,
    updates: 'This page then updates by itself.',
    checkNow: 'Check now',
    wrongNumber: 'Wrong number? Withdraw this request, then enter another number.',
    useAnother: 'Use another number',
  },
  receipt: {
    title: (amount, merchant) => `Paid: ${amount} to ${merchant}`,
    heading: 'Payment received',
    thanks: (merchant) => `Thank you. ${merchant} will be notified.`,
    headingAgain: 'Already paid',
    notChargedAgain: 'This payment was made before. You were not charged again.',
    paidWith: 'Paid with',
    paidOn: 'Paid on',
    operatorReference: 'Operator reference',
    returnTo: (merchant) => `Return to ${merchant}`,
  },
  expired: {
    heading: 'This link can no longer be used',
    atItsTime: (time) => `It could be paid until ${time}.`,
    earlier: 'Its time ran out, or the merchant closed it.',
    askAgain: (merchant) => `Nothing was charged. To pay, ask ${merchant} for a new link.`,
  },
  notFound: {
    heading: 'No such payment link',
    text: 'Check that you copied the whole address, or ask the merchant for the link again.',
  },
};
