/**
 * Returns the parts of a text between which a line may break. JSON, paths and names have few spaces, so that a narrow
 * column would break them inside of words.
 */
export function breakPlaces(text: string): readonly string[] {
  return text.split(/(?<=[,;:])(?=[\p{L}"{[])|(?<=[._/])(?=\p{L})|(?<=\w)(?=\[)/u);
}
