/** What personal data can be determined by a pattern, by the name of a field, or by the words around it. */
export const personalKinds = [
  'name',
  'email',
  'phone',
  'card',
  'iban',
  'address',
  'postcode',
  'ip',
  'birthDate',
  'id',
] as const;
export type PersonalKind = (typeof personalKinds)[number];

/** A personal value and where it is in a text. */
export type Found = { readonly kind: PersonalKind; readonly start: number; readonly end: number };
