import { maskingLimits } from '../../engine/core/text/maskingMark.ts';
import { Fault } from '../../engine/shell/files/fault.ts';

/** A person is to decide whether conversations are imported although masking does not cover everything. */
export class MaskingQuestion extends Fault {
  constructor() {
    const message = `${maskingLimits}. Nothing was written. To import anyway, repeat the command with --yes, or name a recogniser with --recogniser rampart`;
    super({ who: 'environment', code: 'import/masking', message });
  }
}
