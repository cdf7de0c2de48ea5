/** The kinds of personal data that a pattern, the name of a field or the words around it can determine. */
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

/** A personal value and its position in a text. */
export type Found = { readonly kind: PersonalKind; readonly start: number; readonly end: number };
