/** Styles are bundled next to the script; importing them does not add anything to TypeScript. */
declare module '*.css';
