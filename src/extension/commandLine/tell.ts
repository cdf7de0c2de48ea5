import { showErrorMessage, showWarningMessage } from '../workspace/messages.ts';
import type { Context } from './context.ts';

/** Says something with the log one press away. */
export async function tell(context: Context, kind: 'error' | 'warning', message: string): Promise<void> {
  const show = kind === 'error' ? showErrorMessage : showWarningMessage;
  if ((await show(message, 'Show Log')) === 'Show Log') context.log.show();
}
