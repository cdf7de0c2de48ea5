import type { UserReply } from '../seats/seat.ts';
import { plain } from '../text/text.ts';

/** A topic that a plan of an answer mentions, but a person who writes to an agent does not. */
type Topic = 'itself' | 'agent' | 'instructions' | 'answer' | 'stop';

/** Patterns for plain text. One sure sign is a leak; of the hints, a person may well give one. */
type Signs = { readonly sure: readonly RegExp[]; readonly hints: readonly RegExp[] };

const who = '(?:user|customer|client)';
const agent = '(?:(?:support|service|chat|virtual|ai) )?(?:agent|assistant|representative)';
const opener = '(?:okay|ok|alright|so|hmm|well|now|first|right)';
const must = '(?:should|need to|must|have to|am supposed to|am going to)(?: not)?';
const soon = '(?:(?:now|then|first|next|just|simply|only|probably|briefly|also) )*';
const speak =
  '(?:ask|answer|respond|reply|tell|say|provide|give|confirm|mention|state|reveal|request|wait for|thank|express|output|generate|write|end the (?:conversation|chat))';
const message = '(?:message|reply|response|answer|turn|utterance|input)';
const given = '(?:instructions?|prompt|system prompt|scenario|persona|role description|task description|user goal)';
/** An agent of an earlier contact, of whom a customer may speak. */
const earlier = '(?:yesterday|last|earlier|previous|ago|before|phone|store|shop|counter|morning|week)';

const signs: Readonly<Record<Topic, Signs>> = {
  itself: {
    sure: [
      new RegExp(`\\bas the (?:simulated )?user,? (?:(?:i|we) ${must}|my (?:next|${message}|goal))\\b(?! say| admit)`),
      new RegExp(`\\bas (?:the|a) ${who},? (?:i|we) ${must} (?:now|next|then|first) ${speak}\\b`),
      new RegExp(`\\bas (?:the|a) ${who},? my (?:next |own )?(?:${message}|goal)\\b`),
      new RegExp(
        `\\b(?:respond|reply|answer|write|speak|act|continue|response)(?:ing)? (?:only |just )?as (?:the|a|this) ${who}\\b`,
      ),
      new RegExp(
        `\\bthe ${who} (?:that )?(?:i am|i play|wants me to (?:act|play|answer|respond|say|pretend|name|be)|needs to respond)\\b`,
      ),
      new RegExp(`\\bhere is (?:what|how) (?:the|a) ${who}\\b`),
      new RegExp(
        `\\bwhat (?:the|a|this) ${who} (?:would|could|should|might) (?:now )?(?:say|reply|respond|answer|ask)\\b`,
      ),
      new RegExp(`\\b(?:next|following) (?:${who}(?:'s)? ${message}|${message} (?:from|of) the ${who})\\b`),
      /\b(?:simulated|fictional) (?:user|customer|person)\b|\b(?:user|customer) simulat(?:ion|or)\b/,
      new RegExp(
        `\\bi am (?:the ${who},? (?:and )?not the ${agent}|supposed to (?:be|play|act as) (?:a|the) ${who})\\b`,
      ),
      new RegExp(
        `\\b(?:playing|role-?playing|pretending|acting|simulating)(?: as| to be| the (?:role|part) of)? (?:the|a|an|this) (?:\\w+ )?${who}\\b`,
      ),
      new RegExp(`\\b(?:in )?my role as (?:the|a) ${who}\\b`),
      /\bals (?:der )?(?:benutzer|nutzer|anwender)(?:in)?,? (?:sollte|soll|muss|werde) ich\b(?! sagen| gestehen| zugeben)/,
      /\bals (?:der )?kund(?:e|in),? (?:sollte|soll|muss) ich (?:jetzt|nun|zuerst|als nachstes)\b[^.!?\n]{0,40}\b(?:fragen|sagen|nennen|antworten|angeben|bestatigen|mitteilen)\b/,
      /\ben tant qu(?:'|e l')utilisat(?:eur|rice),? je (?:dois|devrais|vais)\b(?! dire| avouer)/,
      /\ben tant que client(?:e)?,? je (?:dois|devrais|vais) (?:maintenant|donc|d'abord) (?:repondre|dire|demander|donner|mentionner|confirmer|indiquer)\b/,
      /\bcomo (?:el |un )?usuari[oa],? (?:ahora )?(?:debo|deberia|tengo que|voy a)\b(?! decir| admitir)/,
      /\bcomo (?:el |un )?cliente,? (?:ahora (?:debo|deberia|tengo que)|(?:debo|deberia|tengo que) ahora)\b/,
      /作为(?:一个|一名)?(?:模拟)?(?:用户|顾客|客户)[,，]?\s*我?(?:现在|接下来|首先)?(?:应该|需要|必须|得)(?:现在|接下来|先)?(?:询问|回答|回复|告诉|提供|确认|说|问)/,
      /\b(?:system|prompt|scenario) wants me to (?:act|play|answer|respond|say|pretend|be)\b/,
      new RegExp(`\\bi (?:will )?play (?:the role of )?an? ${who} (?:who|whose|with)\\b`),
      new RegExp(`(?:^|\\n)\\W*${who}(?:'s)? (?:next )?(?:line|${message}) ?:`),
      /\bich spiele (?:einen|den) kunden\b|\bin der rolle (?:des|eines) (?:kunden|nutzers|benutzers)\b|^\W*(?:okay|also|gut),? der (?:kunde|nutzer|benutzer) (?:soll|sollte|will|mochte)\b/,
      /\bje joue (?:le role d')?une? client|\bdans le role d(?:u|'un) (?:client|utilisateur)\b/,
      /\b(?:mi papel es|en el papel de|interpreto a) [^.!?\n]{0,12}\b(?:cliente|usuario)\b/,
      /我(?:现在)?(?:扮演|饰演)/,
    ],
    hints: [
      new RegExp(`\\bas the ${who},? (?:i|we) ${must}\\b`),
      new RegExp(`\\bthe ${who} (?:wants|needs|would|could|should|is supposed|says|has to|does not know)\\b`),
      new RegExp(`\\bthe ${who}'s (?:goal|request|objective|task|persona|patience|intent|next|needs)\\b`),
      /\b(?:ziel|anliegen|wunsch) des (?:kunden|benutzers|nutzers)\b|\bder (?:kunde|benutzer|nutzer) (?:mochte|will|soll|sollte|wurde|wunscht)\b/,
      /\b(?:objectif|but|demande) (?:de l'utilisateur|du client)\b|\b(?:l'utilisateur|le client) (?:veut|souhaite|doit|devrait)\b/,
      /\bobjetivo del (?:usuario|cliente)\b|\bel (?:usuario|cliente) (?:quiere|desea|debe|deberia)\b/,
      /(?:用户|顾客|客户)(?:的目标|的需求|想要|希望|应该)/,
      new RegExp(`\\bi am the ${who}\\b`),
      /\bmy (?:character|role) is (?:a|an|the|that)\b/,
    ],
  },
  agent: {
    sure: [
      new RegExp(
        `^\\W*${opener}[,.!]? (?:${opener}[,.!]? )?the ${agent} (?:is asking|is waiting|just asked|has asked|asks|wants|needs)\\b`,
      ),
    ],
    hints: [
      new RegExp(
        `\\bthe ${agent} (?:is|has|just|now|asks|says|asked|wants|needs|offers|offered|proposes|proposed|confirmed|seems|did not|should|will)\\b(?![^.!?\\n]*\\b${earlier}\\b)`,
      ),
      /\bder (?:agent|assistent)\b(?! (?:meine[rs]|unsere[rs]|de[rs]|von)\b)(?![^.!?\n]*\b(?:gestern|telefon|letzte\w*|am|im|in|an)\b)/,
      /\bder (?:mitarbeiter|berater) (?:hat|mochte|will|fragt|wartet|braucht|bittet|bietet|schlagt)\b(?![^.!?\n]*\b(?:gestern|telefon|letzte\w*)\b)/,
      /\bl'(?:agent|assistant)e? (?:me |m'|a |vient|attend|veut|demande|propose)(?![^.!?\n]*\b(?:hier|telephone|dernier\w*)\b)/,
      /\bel (?:agente|asistente) (?:me |ha |pregunta|quiere|pide|espera|propone)(?![^.!?\n]*\b(?:ayer|telefono|pasad\w)\b)/,
      /(?<!昨天的?|上次的?|之前的?)(?:客服|代理|助手|助理)(?:正在|在问|在等|刚刚|已经|要求|想知道|需要|让我|问了)/,
    ],
  },
  instructions: {
    sure: [
      new RegExp(`\\b(?:according to|based on|per|as per|following|given|by) my ${given}\\b`),
      new RegExp(`\\bas my ${given} (?:say|state|require|tell)`),
      new RegExp(`\\bmy ${given} (?:say|tell|state|require|mention|forbid|specif|do(?:es)? not|is|are)`),
      /\bthe (?:scenario|persona|role-?play|system prompt) (?:say|tell|state|require|mention|forbid|specif)|\bthe persona is\b/,
      /\b(?:developer|system) instructions\b|\bmy (?:system )?prompt\b/,
      /\bi (?:am|was) (?:instructed|told|asked|supposed|programmed) to (?:play|act as|pretend|role.?play)\b|\bi (?:am|was) (?:instructed|supposed|programmed) to (?:change my mind|insist)\b/,
      /\bi (?:am|was) (?:instructed|told|asked|supposed) not to (?:reveal|disclose|share|mention|give|provide|volunteer)\b[^.!?\n]{0,40}\b(?:unless|until) (?:i am )?asked\b(?! (?:by|to)\b)/,
      /\bsupport agent\. write only\b|(?:^|\n)(?:what you want|who you are|in your next message):/,
      /\bmy persona\b|\bmy (?:character|role) (?:says|would)\b/,
      /(?:^|\bi |\bto |[([*])(?:\w+ )?(?:stay|remain)(?:ing)? in (?:my |the )?(?:character|role)\b/,
      /\b(?:laut|gemaß|nach|entsprechend) mein(?:en|er) (?:anweisungen|instruktionen|vorgaben|rollenbeschreibung)\b|\bmeine (?:anweisungen|instruktionen|vorgaben) (?:sag|besag|verlang|erlaub|schreib)/,
      /\b(?:selon|d'apres|conformement a|suivant) mes (?:instructions|consignes)\b|\bmes (?:instructions|consignes) (?:ne )?(?:disent|indiquent|precisent|mentionnent)\b/,
      /\b(?:segun|conforme a|siguiendo|de acuerdo con) mis (?:instrucciones|indicaciones)\b|\bmis instrucciones (?:no )?(?:dicen|indican|mencionan)\b/,
      /\bdas (?:szenario|rollenspiel) (?:sagt|besagt|nennt|verlangt)\b|\ble scenario (?:dit|indique|precise|mentionne)\b|\bel escenario (?:dice|indica|menciona)\b/,
      /(?:根据|按照|依照)(?:我的|给我的|系统)(?:指令|指示|设定|剧本|提示词?|人设)/,
      /\b(?:according to|as per|in line with) the (?:scenario|prompt|persona|script|role-?play)\b|\b(?:reveal|disclose|share|repeat) my instructions\b/,
      /\b(?:laut|nach) (?:dem )?(?:szenario|rollenspiel|prompt)\b|\b(?:d'apres|selon) le (?:scenario|prompt)\b|\bsegun el (?:escenario|guion|prompt)\b/,
      /(?:根据|按照|依照)(?:我的|给我的|系统)?(?:设定|剧本|人设|指令|提示词)/,
    ],
    hints: [
      /\b(?:matches|fits|meets|satisfies|fulfils|fulfills|contradicts|(?:aligns|conflicts|is in line) with) my (?:goal|objective)\b/,
      /\bthe instructions? (?:say|state|tell|require)s?\b[^.!?\n]{0,40}\b(?:tell|say|ask|mention|reveal|answer|share|disclose|respond|reply|when asked)\b/,
      /\b(?:the|this) (?:scenario|prompt|role-?play|persona)\b/,
      /\bi (?:am|was) (?:instructed|told|asked|supposed) (?:not to|to only|only to) (?:say|reveal|tell|mention|disclose|share|give)\b/,
      /(?:场景|剧本|设定|提示词|人设)(?:说|中|里|要求|提到)/,
      /\bmy (?:user |own )?(?:instructions|brief|briefing|background info\w*|role description)\b|\b(?:details|facts|information) (?:provided|given) (?:to me )?(?:in|is|are|it)\b|\baccording to the (?:details|facts|information)\b/,
      /\b(?:i am|which i am) (?:not )?(?:allowed|supposed) to (?:give|say|share|reveal|mention|tell)\b/,
      /\bmeine (?:anweisungen|rolle)\b|\bmes (?:instructions|consignes)\b|\bmis instrucciones\b|我的(?:指令|指示|设定|角色)/,
    ],
  },
  answer: {
    sure: [
      /^\W*(?:here is (?:a|my|the) )?(?:thinking|thought|thoughts|reasoning|analysis|internal monologue)(?: process)?\W*:/,
      /^\W*(?:denkprozess|uberlegung|gedanken|reflexion|raisonnement|pensamiento|razonamiento|思考|思考过程)\W*[:：]/,
      new RegExp(`\\bmy next ${message} (?:should|must|needs to|has to|will)\\b`),
      new RegExp(
        `\\b(?:let me|i ${must}|we ${must}) (?:now )?(?:craft|formulate|generate|produce|compose) (?:a|an|the|my) (?:\\w+ ){0,2}${message}\\b`,
      ),
      new RegExp(
        `^\\W*(?:${opener}[,.!]? )*we ${must} ${soon}(?:(?:respond|reply|answer) (?:as|like|in|with)|output|role-?play|produce|act)\\b`,
      ),
      /(?:\bi (?:will |should |would |must |can )?(?:answer|respond|reply)|\bso (?:respond|reply|answer)|\d[.)] (?:respond|reply|answer)|\bfinal (?:answer|reply|response|message)|\bthe (?:reply|response|answer|message) (?:would|should|will|could) be)\s*:/,
      /\b(?:antworte ich|ich antworte|je reponds|respondo|contesto)\s*:|我(?:会|应该|要)(?:说|回答|回复)\s*[:：]/,
    ],
    hints: [
      new RegExp(`\\b(?:i|we) ${must} ${soon}${speak}\\b(?! that\\b| my\\b)(?![^.!?\\n]*\\byour?\\b)`),
      new RegExp(`\\b(?:my|the) ${message} (?:should|must|needs to) (?:be|mention|say|include|not)\\b`),
      /\b(?:formulate|draft|craft) (?:the|a|my) (?:reply|response|answer)\b/,
      /\bich (?:sollte|soll|muss) [^.!?\n]{0,40}\b(?:antworten|fragen|sagen|nennen|angeben|bestatigen|erwahnen|mitteilen|beenden)\b/,
      /\bje (?:dois|devrais) (?:maintenant |donc |juste )*(?:repondre|dire|demander|donner|mentionner|confirmer|indiquer|terminer)\b/,
      /\b(?:debo|deberia|tengo que) (?:ahora |solo )*(?:responder|contestar|decir|preguntar|dar|mencionar|confirmar|terminar)\b/,
      /我(?:应该|需要|必须)(?:现在|简短地|直接|先|只)?(?:询问|回答|回复|输出|告诉|提供|确认|结束|说)/,
      /\bi will (?:answer|respond|reply|say that i|say:)(?![^.!?\n]*\byour?\b)|\bi did not (?:mention|say|reveal|give)\b/,
      new RegExp(
        `\\bi ${must} (?:keep (?:this|it|my)|be (?:brief|short|polite|impatient)|stick to|remember to|make sure)\\b(?![^.!?\\n]*\\byour?\\b)`,
      ),
    ],
  },
  stop: {
    sure: [
      /\b(?:my|the) (?:goal|objective)\b[^.!?\n]{0,40}\bi (?:(?:will|should|can|must|need to) )?(?:now )?end (?:the|this) (?:conversation|chat|dialogue)\b/,
      /\b(?:stop|give-?up|out-of-scope) (?:word|token|marker|keyword)\b/,
      /\b(?:answer|reply|respond|end|finish) (?:the (?:conversation|chat) )?with (?:just |only )?(?:the )?(?:stop\b|alone\b)/,
      /\b(?:end|stop|finish) (?:the|this) (?:role-?play|simulation)\b/,
      /\bstopp?-?(?:wort|token|zeichen)\b|\bmot d'arret\b|\bpalabra de parada\b|停止(?:词|标记|符号)/,
    ],
    hints: [
      /\b(?:stop|give-?up|out-of-scope) (?:tag|signal)\b/,
      /\bend (?:the|this) (?:conversation|chat)\b/,
      /\bend(?:ing|ed)? (?:the|this) (?:dialogue|conversation|chat)\b|\b(?:conversation|dialogue|chat) (?:should|can|must|will) (?:now )?(?:end|be ended|stop)\b/,
      /\b(?:goal|objective) (?:has been|is|was) (?:now )?(?:met|reached|complete|completed|achieved|fulfilled|satisfied)\b|\bachieved (?:the|my) goal\b/,
      /\b(?:ziel|aufgabe) (?:\w+ ){0,3}(?:erreicht|erfullt|erledigt)\b|\bgesprach (?:\w+ ){0,3}beenden\b|\b(?:objectif|tache) (?:\S+ ){0,3}(?:atteint|terminee)\b|\btermin\w+ (?:donc )?la (?:conversation|conversacion)\b|\bobjetivo (?:\S+ ){0,3}(?:cumplido|alcanzado)\b|(?:任务|目标)(?:已经|已)?(?:完成|达到|达成)|结束(?:对话|会话)/,
    ],
  },
};

/** A stop word as models write it without its marks, where they plan to say it. */
const namedStop =
  /\b[Ii](?: (?:use|output|write|say|emit)|(?:'ll| will| should| must| can| need to)(?: now| then)? (?:say|answer|reply|respond|output|write|use|send|end))(?: (?:the|this) (?:conversation|chat|dialogue))?(?: now)?(?: with)?\s+["'“*`]*(?:STOP|TRANSFER|GIVE-UP|OUT-OF-SCOPE)\b(?! to\b)/;

/** "*The customer sighs*": a stage direction about itself. */
const staged = /(?:^|\n)\s*[*([_]+\s*(?:the )?(?:customer|user|client)\b/i;

/** Matches the rest of "I should output ###STOP###" after the engine has removed the stop. */
const before =
  /(?:\b(?:output|generate|write|say|send|use|using|with|mit|avec|con|ausgeben|schreiben|emettre|escribir)|输出|回复|发送|说)\s*[:：]?\s*["'“*`(]*$/;

/** Nouns that a task or an agent can bring into the conversation: then they are not a sign. */
const nouns =
  /\b(?:instruction|scenario|prompt|persona|role|simulation|simulator|script|the user|the customer|the client)/g;

/**
 * Returns the words by which a message speaks about its instructions or plans what the user says; null where it does
 * not. A person speaks to the agent. A plan speaks about the agent, about the customer that it plays, about what it was
 * given, or about its next answer. One sure sign is enough; of hints, two on different topics; a stop is one of
 * them, spoken of or given.
 * @param known what the task says and what was said so far
 */
export function spokenThoughts({ content, stop }: UserReply, known: string): string | null {
  const text = plain(content);
  if (stop !== null) {
    const rest = before.exec(text);
    if (rest) return rest[0].trim();
  }
  const shown = namedStop.exec(content) ?? staged.exec(content);
  if (shown) return shown[0].trim();
  const heard = plain(known);
  const isBrought = (found: string) => (found.match(nouns) ?? []).some((noun) => heard.includes(noun));
  const find = (patterns: readonly RegExp[]) =>
    patterns.flatMap((pattern) => pattern.exec(text)?.[0] ?? []).find((found) => !isBrought(found));
  const all = Object.values(signs);
  const sure = all.flatMap(({ sure: patterns }) => find(patterns) ?? [])[0];
  if (sure) return sure.trim();
  const { stop: ofStop, ...others } = signs;
  const hints = Object.values(others).flatMap(({ hints: patterns }) => find(patterns) ?? []);
  const isStopped = stop !== null || find(ofStop.hints) !== undefined;
  return hints.length + (isStopped ? 1 : 0) >= 2 ? (hints[0]?.trim() ?? null) : null;
}
