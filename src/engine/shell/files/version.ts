/** Version of the engine; the same as the package's. A test holds the two together. */
export const version = '0.1.0';
