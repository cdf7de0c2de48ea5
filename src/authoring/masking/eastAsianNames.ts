import { matchesOf } from './text/matches.ts';
import { eastAsian, isEastAsian } from './text/script.ts';
import type { Span } from './text/valueIndex.ts';

/*
 * Names in Chinese, Japanese and Korean. No space and no capital tells a name there, so they are found where somebody says
 * who they are, by a form of address behind a known surname, and in fields; what was found is then found everywhere.
 */

const chineseSurnames =
  '欧阳|歐陽|司马|司馬|上官|诸葛|諸葛|司徒|慕容|皇甫|令狐|尉迟|端木|南宫|[王李张張刘劉陈陳杨楊赵趙黄黃周吴吳徐孙孫胡朱高林何郭马馬罗羅梁宋郑鄭谢謝韩韓唐冯馮于董萧蕭程曹袁邓鄧许許傅沈曾彭吕呂苏蘇卢盧蒋蔣蔡贾賈丁魏薛叶葉阎閻余潘杜戴夏钟鍾汪田任姜范方石姚谭譚廖邹鄒熊金陆陸郝孔白崔康毛邱秦江史顾顧侯邵孟龙龍万段雷钱錢汤湯尹黎易常武乔喬贺賀赖賴龚龔]';
/** Those that neither a place is called nor people say about themselves. */
const japaneseSurnames =
  '佐々木|長谷川|五十嵐|久保田|大久保|佐藤|鈴木|高橋|田中|伊藤|渡辺|渡邊|山本|中村|小林|加藤|吉田|山田|松本|井上|木村|斎藤|斉藤|齋藤|清水|山崎|池田|橋本|阿部|中島|石井|小川|前田|岡田|藤田|後藤|近藤|村上|遠藤|青木|坂本|太田|西村|藤井|金子|岡本|三浦|藤原|中川|原田|松田|竹内|小野|田村|中山|和田|石田|森田|上田|内田|柴田|酒井|高木|安藤|宮本|大野|小島|谷口|工藤|今井|高田|増田|丸山|杉山|村田|大塚|新井|小山|平野|藤本|河野|野口|武田|松井|菅原|岩崎|木下|佐野|野村|松尾|市川|菊地|菊池|杉本|古川|大西|島田|水野|桜井|高野|山内|西田|飯田|西川|小松|北村|安田|平田|中田|服部|岩田|土屋|本田|樋口|秋山|田口|永井|山中|中西|吉村|川上|石原|大橋|松岡|馬場|浜田|森本|星野|矢野|浅野|松下|吉岡';
const japanesePlaces = '石川|山口|福田|福島|千葉|宮崎|川崎|川口|横山|上野|中野|長野|林|森';
const koreanSurnames =
  '남궁|황보|제갈|선우|독고|[김이박최정강조윤장임한오서신권황안송류유전홍고문양손배백허남심노하곽성차주우구민진나지엄채원천방공현함변염추도소석설마길연위표명기왕옥육맹탁국]';

const [han, kana, hangul] = [
  String.raw`\p{Script=Han}`,
  String.raw`\p{Script=Katakana}ー`,
  String.raw`\p{Script=Hangul}`,
];
/** Signs that are behind a name and are not part of one. */
const behindChinese = '想要在是了的，我你您他她它们吗呢吧请打买订需帮跟退已昨会叫说这那有没不能可该与及或就都从为被把';
const behind = `[${behindChinese}]`;
/** A given name: its first sign may be many that its second can't, as in 李和平. */
const chineseGiven = `(?![的了是我你您他她们吗呢吧])[${han}](?:(?!${behind})[${han}])?`;
const chineseName = `(?:${chineseSurnames})${chineseGiven}`;
const koreanName = `(?:${koreanSurnames})[${hangul}]{2}`;
const japaneseGiven = String.raw`[ 　]?(?:[${han}々]{1,3}|[${kana}]{2,6}|(?!です|でご|と申|と言|とい|さん|さま|くん|ちゃん|から|まで|より)\p{Script=Hiragana}{2,4}?)`;

type Pattern = readonly [pattern: RegExp, noNames: RegExp];
const noWord = /^$/;

const noChinese =
  /^(?:了|过|客服|外卖|快递|出租|朋友|家人|老板|师傅|保安|警察|什么|啥|不|任何|于|高(?:级|中|考|管)|金(?:卡|牌|额)|白(?:金|天|领|色)|文|方(?:便|面|案|法)|常|江[苏西]|马上|何|万|程序|林业|黄(?:金|色|牌)|周[一二三四五六日末]|夏[天季]|孙[子女]|余额|许多|石家|毛[衣巾]|武汉|温|单|易|龙|史|康复|田径|段|余|安|成都|秦皇|罗[马湖]|董事|任|钱|孔子)/;
const noJapanese =
  /^(?:何|誰|だれ|どな|なん|な[にん]|お客|皆|みな|[^\p{Script=Han}\p{Script=Katakana}]{1,2}$)|です|ます|ません/u;
const noKatakana =
  /^(?:スタッフ|オーナー|ユーザー|ゲスト|ドライバー|メーカー|オペレーター|カスタマー|サポート|マネージャー|センター|メンバー|プレミアム|ショップ|ストア|キャンセル|アカウント|パートナー|サービス)$/;
const noKorean =
  /^(?:뭐|무엇|무슨|어떻|누구|이용자|한국인|주문자|구매자|신청자|소비자|구입자|유학생|고등학|신입생|임산부|장애인|노약자|공무원|변호사|지원자|양수인|임차인|임대인|수령인|계약자|방문객|방문자|여행객|여행자|조합원|정회원|기존고|신규고|현지인|외국인|안내원|지점장|전문가|주치의|하느님|고객|주인|손님|이사람|이번|오늘|지금|조금|정말|안내|문의|배송|주문|고등|하루|이틀|천원|만원|한국|서울|미국|중국|일본|전화|신용|현금)/;

/** Each finds a name where people say one. */
const patterns: readonly Pattern[] = [
  // 我叫王小明, 收件人：李娜. A name without a known surname ends where the sentence does.
  [
    new RegExp(
      `(?:我(?:的(?:全|真)?名(?:字)?(?:是|叫)|(?:就)?叫(?:做)?|名叫|姓名是)|本人(?:名)?叫|名字(?:是|叫|[:：])|姓名(?:是|为|叫|[:：])|(?:收件人|收货人|联系人|持卡人|乘客|乘车人|旅客|客户|户主|預訂人|预订人)(?:姓名)?(?:是|为|叫|[:：]))[ “「"]*(?<name>(?:${chineseName})|[${han}]{2,4}(?:·[${han}]{2,6}){0,2}(?=[^${han}]|$)|[${han}]{2}(?=${behind}))`,
      'gu',
    ),
    noChinese,
  ],
  [/我姓(?<name>欧阳|歐陽|司马|司馬|诸葛|諸葛|司徒|上官|\p{Script=Han})/gu, noChinese],
  [
    new RegExp(
      `(?:我是|这里是|我這裡是|這裡是|这是)[ ]?(?<name>${chineseName}(?:·[${han}]{2,6})?)(?=[^${han}]|$|[想要来請请住打])`,
      'gu',
    ),
    noChinese,
  ],
  // 王先生, 李小明女士: the longest name behind what can't be part of one, else the shortest.
  [
    new RegExp(
      `(?<=^|[^${han}]|[是叫找给跟和对請请问好位的，])(?<name>(?:${chineseSurnames})(?:[${han}]{1,2}?)?)(?=先生|女士|小姐|太太|同学|同學|老师|老師|经理|經理|师傅|師傅|医生|醫生)`,
      'gu',
    ),
    noChinese,
  ],
  [
    new RegExp(
      String.raw`(?:お?名前|氏名|ご氏名)(?:は|[:：])[、 　]*(?<name>(?:${japaneseSurnames})${japaneseGiven}|[${han}々${kana}]{2,8}?(?:[ 　・][${han}々${kana}\p{Script=Hiragana}]{1,8}?)?)(?=です|でご|と申|とい|と言|だ|に|[、。！!？?,.\n]|$)`,
      'gu',
    ),
    noJapanese,
  ],
  [
    new RegExp(
      String.raw`(?<=^|[\s　、。！!？?「はの])(?<name>[${han}々]{2,6}?(?:[ 　][${han}々${kana}]{1,6}?)?|[${kana}]{2,10}?(?:・[${kana}]{2,10}?)?|(?:${japaneseSurnames}|${japanesePlaces})${japaneseGiven})(?=と(?:申し|もうし)ます|と(?:いい|言い|名乗り)ます)`,
      'gu',
    ),
    noJapanese,
  ],
  [
    new RegExp(
      String.raw`(?:(?:私|わたし|わたくし|僕|俺|こちら)(?:の名前)?は[、 　]*|^|(?<=[。！!\n]|[一-龠ァ-ヶ]の))(?<name>(?:${japaneseSurnames})(?:${japaneseGiven})?)(?=です|でございます|だ[。！]|と[い申言])`,
      'gmu',
    ),
    noWord,
  ],
  [
    new RegExp(
      `(?<![${han}々${kana}])(?<name>(?:${japaneseSurnames}|${japanesePlaces})(?:${japaneseGiven})?)(?=さん|さま|様|氏|くん|君|ちゃん)`,
      'gu',
    ),
    noWord,
  ],
  [new RegExp(`(?<![${kana}])(?<name>[${kana}]{2,10}(?:・[${kana}]{2,10})?)(?=さん|さま|様|氏)`, 'gu'), noKatakana],
  // 제 이름은 김민수입니다, 저는 김민수라고 합니다.
  [
    new RegExp(
      String.raw`(?:이름은|성함은|성명은|(?:이름|성함|성명|예금주|수령인|받는 ?사람|예약자)[ ]?[:：])\s*(?<name>[${hangul}]{2,5}?)(?=입니다|이에요|예요|에요|이고|이며|이라|라고|이구요|[\s.,!?)]|$)`,
      'gu',
    ),
    noKorean,
  ],
  [
    new RegExp(
      String.raw`(?<![${hangul}])(?:저는|나는|전|제가)\s+(?<name>[${hangul}]{2,5}?)(?=이?라고 (?:합|해|하|불|말))`,
      'gu',
    ),
    noKorean,
  ],
  [
    new RegExp(
      String.raw`(?<![${hangul}])(?:저는|나는|전|제가|안녕하세요|여보세요)[,.!]?\s+(?<name>${koreanName})(?=\s?(?:입니다|이에요|예요|인데|이고|이라고|라고))`,
      'gu',
    ),
    noKorean,
  ],
  [
    new RegExp(String.raw`(?<![${hangul}])(?<name>${koreanName})(?=\s?(?:씨|님|고객님)(?![${hangul}]{3}))`, 'gu'),
    noKorean,
  ],
  [
    new RegExp(String.raw`(?<![${hangul}])(?<name>[김박최윤임황송권홍])(?=\s?씨(?:[^${hangul}]|[가는를의와]|$))`, 'gu'),
    noWord,
  ],
];

/** Names that a text says where names are. */
export function eastAsianNamesIn(text: string): readonly Span[] {
  if (!isEastAsian(text)) return [];
  return patterns.flatMap(([pattern, noNames]) =>
    matchesOf(pattern, text).flatMap((match): readonly Span[] => {
      const name = match.groups?.['name'] ?? '';
      const start = match.index + match[0].lastIndexOf(name);
      return name === '' || noNames.test(name) ? [] : [{ start, end: start + name.length }];
    }),
  );
}

const chinese = new RegExp(`^(${chineseSurnames})(.+)$`, 'u');
const japanese = new RegExp(`^(${japaneseSurnames}|${japanesePlaces})(.*)$`, 'u');
const korean = new RegExp(`^(${koreanSurnames})(.+)$`, 'u');
/** Surnames of two signs that Japan and China do not share. */
const isLong = (surname: string) => surname.length > 1;

/** The surname and the given name of a name in full, where it can be determined; else the name as one part. */
export function partsOfName(name: string): readonly string[] {
  return name.split(/[\s　·・]+/u).flatMap((part) => {
    if (/\p{Script=Hangul}/u.test(part)) return part.length > 2 ? cut(korean.exec(part), part) : [part];
    const found = japanese.exec(part);
    if (found && isLong(found[1] ?? '')) return cut(found, part);
    return /^\p{Script=Han}{2,4}$/u.test(part) ? cut(chinese.exec(part) ?? found, part) : [part];
  });
}

const cut = (found: RegExpExecArray | null, whole: string): readonly string[] =>
  found ? found.slice(1).filter((part) => part !== '') : [whole];

/** Whether it is somebody's surname and given name, and not a given name that many people share. */
export const isFullName = (value: string): boolean =>
  new RegExp(`^[${eastAsian} 　·・]+$`, 'u').test(value) && partsOfName(value).length > 1;

const beforeName = /[是叫名为跟和与给找对向请請问說说让把被的了在我你他她您帮替联系由从到及或称呼好谢]/;
const afterName =
  /[在吗嗎吧呢的了说說是有想要先女小老和与跟已也都就会會能来來去打给給把被让請请你您我他她应该可没不需]/;
const particle = /^(?:은|는|이|가|을|를|의|와|과|도|에게|한테|께|씨|님|입니다|이에요|예요|이라|라고)/;

/** Whether known names of these signs are names there: short ones are parts of other words as well. */
export function standsAlone(text: string, { start, end }: Span): boolean {
  const name = text.slice(start, end);
  const [before = '', after = ''] = [text[start - 1], text[end]];
  if (name.length < 2) return false;
  if (/^\p{Script=Hangul}+$/u.test(name)) {
    if (/\p{Script=Hangul}/u.test(before)) return false;
    return name.length > 2 || !/\p{Script=Hangul}/u.test(after) || particle.test(text.slice(end));
  }
  const kin = /^[\p{Script=Katakana}ー]+$/u.test(name) ? /[\p{Script=Katakana}ー]/u : null;
  if (kin) return !kin.test(before) && !kin.test(after);
  if (name.length > 2) return true;
  if (/^\p{Script=Hiragana}+$/u.test(name)) return !/[\p{Script=Hiragana}]/u.test(before);
  const isFree = (sign: string, words: RegExp) => !/\p{Script=Han}/u.test(sign) || words.test(sign);
  return isFree(before, beforeName) || isFree(after, afterName);
}
