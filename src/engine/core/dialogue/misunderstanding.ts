const misunderstanding = [
  '(?:do|did) not (?:quite |fully |really )?(?:understand|catch|get (?:that|it|what)|follow)',
  'cannot (?:quite )?(?:understand|follow)',
  'not (?:quite )?(?:sure|clear) (?:what|i (?:understand|follow|understood))',
  '(?:could|can|would) you (?:please |kindly |possibly )?(?:rephrase|say that again)',
  String.raw`(?:(?:could|can|would) you (?:please |kindly )?(?:repeat|clarify|explain)|please (?:rephrase|repeat|clarify|say that again))(?! (?:for me )?(?:which|where|when|who|how|why|whether|if|what(?! you (?:mean|meant|said|are saying))|(?:your|the) (?!(?:last |previous )?(?:message|question|request|sentence|issue|matter|problem|situation)\b)))`,
  'what do you mean',
  'come again',
  'pardon',
  'am (?:a (?:bit|little) )?confused',
  'unclear',
];
const misunderstandings = new RegExp(String.raw`\b(?:${misunderstanding.join('|')})\b`);

/** Reports whether a sentence says that its speaker did not understand: "Could you rephrase that?" */
export function isMisunderstanding(text: string): boolean {
  return misunderstandings.test(text);
}
