export interface Good {
  readonly name: string;
  readonly about: string;
  /** XAF. */
  readonly price: number;
}

/** The shop's goods. Prices come from here, never from a form. */
export const goods: ReadonlyMap<string, Good> = new Map([
  ['pepper', { name: 'White Penja pepper', about: '250 g, from the volcanic soil of Njombé', price: 4_500 }],
  ['coffee', { name: 'Coffee from the highlands', about: '500 g, roasted in Bafoussam', price: 6_000 }],
  ['honey', { name: 'Oku white honey', about: '350 g, from the forest at Mount Oku', price: 7_500 }],
]);
