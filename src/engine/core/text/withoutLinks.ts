/** Takes the form of a link, `[label](address)`, from a text. VS Code makes links of it in notifications. */
export const withoutLinks = (text: string): string => text.replaceAll('](', '] (');

/** Makes links of the pictures in markdown, because an editor that shows it loads them from their addresses. */
export const withoutPictures = (markdown: string): string => markdown.replaceAll('![', '\\![');
