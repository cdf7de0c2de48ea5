import { Document, isMap, isSeq, type Node } from 'yaml';

/** A line of a file is at most so wide; what does not fit in braces is in a block. */
const width = 110;

/** Keys whose entries are short and read best on one line each. */
const inBraces = ['actions', 'receipts', 'state', 'faults', 'assertions'];

/**
 * Tasks or personas as the text of their file, as a person would have written it.
 * @param comment is above, a line each
 */
export function draftText(items: readonly object[], comment: readonly string[]): string {
  const [first] = items;
  const document = new Document(items.length === 1 ? first : items, { aliasDuplicateObjects: false });
  const nodes = items.length === 1 ? [document.contents] : isSeq(document.contents) ? document.contents.items : [];
  for (const [index, node] of nodes.entries()) {
    if (!isMap(node)) continue;
    if (index > 0) node.spaceBefore = true;
    for (const key of inBraces) {
      const list = node.get(key);
      if (isSeq(list)) for (const each of list.items) flow(each);
    }
    flow(node.getIn(['user', 'known']));
    for (const key of ['evaluate', 'train', 'communicate']) flow(node.get(key));
    flow(node.getIn(['user', 'unknown']));
  }
  // What a comment quotes may come from elsewhere, and a second line of it would be text of the file.
  const head = comment.map((line) => `# ${line.replace(/\s+/g, ' ')}\n`).join('');
  const text = document.toString({ lineWidth: 0, flowCollectionPadding: true });
  return `${head}${text.replace(/^(\s*\w+: )\[ (.*) \]$/gm, '$1[$2]')}`;
}

function flow(node: unknown): void {
  if ((isMap(node) || isSeq(node)) && JSON.stringify((node as Node).toJSON()).length < width) node.flow = true;
}
