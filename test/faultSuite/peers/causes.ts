const waited = /tim(e|ed) ?out|did not answer/i;
const broken = /disconnect|connection|closed|reset|can't be reached/i;

/** What a message says that names a fault, in the words of any framework. */
const causes: Readonly<Record<string, RegExp>> = {
  'the tool raises an error': /boom/,
  'an error with status 500': /500|boom/,
  'the answer is that of an earlier request': waited,
  'the answer to the reader is that of an earlier request': waited,
  'no answer': waited,
  'the response is lost after the write': broken,
  'the session is lost before anything was done in it': /session|404/i,
  'the session is lost after the write': /session|404/i,
  'the environment is dead before the write': broken,
  'the environment is dead after the write': broken,
  'the reader answers with an error': /boom/,
  'the answer is not JSON': /json|parse|invalid|expecting/i,
  '500': /500|boom/,
  '503': /503|restarting/,
  '529': /529|overloaded/,
  '429 without a wait': /429|slow down/,
  '429 with a wait': /429|slow down/,
  'a page of a gateway': /502|bad gateway/i,
  'a connection that is reset': broken,
  'an answer that breaks off': /closed|incomplete|broke|disconnect|connection error/i,
  'no choices': /choices|ended before a completion/i,
  'an error with status 200': /upstream is away/,
  'a JSON text that is not an object': /502|bad gateway/i,
  'a wrong key': /401|API key/i,
  'an unknown model': /404|the model m/i,
  'no answer, always': waited,
  'a stream that ends in the middle of a text': broken,
  'a stream that ends in the middle of a call': broken,
  'a stream whose connection is closed in the middle of a call': broken,
  'a stream with an event that is cut': /json|parse|unterminated|delimiter|expecting/i,
  'a stream with an error in the middle': /upstream is away/,
  'a stream with an error in the middle of a call': /upstream is away/,
  'the context is too long, as vLLM says it': /context/i,
  'the text is cut at the limit of tokens': /cut|length|limit/i,
  'the arguments of a call are cut at the limit of tokens': /cut|length|limit|json|unterminated|delimiter|expecting/i,
  'finish_reason is null': /finish/i,
  'a call with an object as its arguments': /arguments|not dict/i,
  'a call with a number as its id': /\bid\b/i,
};

/** Returns what names a fault. A fault in the form of an answer that has no words of its own is named by what it changes. */
export function causeOf(name: string): RegExp {
  return (
    causes[name] ?? causes[name.replace(/, (once|always)$/, '')] ?? new RegExp(name.replace(/^an? |^the /, ''), 'i')
  );
}
