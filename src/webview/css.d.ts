/** Styles are bundled beside the script; importing them brings nothing into TypeScript. */
declare module '*.css';
