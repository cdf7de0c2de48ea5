/**
 * Import this before the chart library: it formats numbers in the browser's language while it loads, and fails for a
 * tag that is not one, such as the "en-US@posix" of a browser that was started under LANG=C.
 */
try {
  new Intl.NumberFormat(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true });
}

export {};
