import { describe, expect, it } from 'vitest';
import { keptBy, knownFrom } from '../../../src/authoring/masking/database.ts';
import { isFullName, partsOfName } from '../../../src/authoring/masking/eastAsianNames.ts';
import { maskerOf } from '../../../src/authoring/masking/masker.ts';
import type { Json, JsonObject } from '../../../src/engine/core/values/json.ts';

type Options = Partial<Parameters<typeof maskerOf>[0]>;

/** Returns the masked texts of one conversation. */
function masked(texts: readonly string[], options: Options = {}): readonly string[] {
  const { text } = maskerOf({ seed: 'test', ...options }).conversation(texts.map((value) => ({ value })));
  return texts.map(text);
}

const planted: readonly (readonly [text: string, gone: readonly string[], stays: RegExp])[] = [
  // Chinese
  ['我叫王小明，我想退货。', ['王', '小明'], /^我叫\p{Lu}\p{Ll}+ \p{Lu}\p{Ll}+，我想退货。$/u],
  ['你好，我叫王明想退货', ['王明'], /想退货$/],
  ['我的名字是李和平。', ['李', '和平'], /^我的名字是.+。$/],
  ['我叫小红，订单没到', ['小红'], /，订单没到$/],
  ['我是陈美玲，想改地址', ['陈', '美玲'], /，想改地址$/],
  ['我叫欧阳修文。', ['欧阳', '修文'], /^我叫/],
  ['我叫约翰·史密斯。', ['约翰', '史密斯'], /^我叫/],
  ['我姓赵。', ['赵'], /^我姓\p{L}+。$/u],
  ['请问王先生在吗？', ['王'], /^请问\p{L}+先生在吗？$/u],
  ['好的，李娜女士，请稍等。', ['李', '娜'], /女士，请稍等。$/],
  ['收件人：张伟，电话13800138000', ['张', '伟', '13800138000'], /电话\d{11}$/],
  ['我叫林志玲，我的邮箱是zhiling.lin@qq.com', ['林', '志玲', 'zhiling', 'qq.com'], /我的邮箱是\S+@example\.\w+$/],
  ['我叫陳大文。', ['陳', '大文'], /^我叫/],
  // Japanese
  ['私は田中です。注文を取り消したいです。', ['田中'], /^私は\p{L}+です。注文を取り消したいです。$/u],
  ['田中太郎と申します。', ['田中', '太郎'], /と申します。$/],
  ['私の名前は佐藤 花子です。', ['佐藤', '花子'], /^私の名前は.+です。$/],
  ['お名前：鈴木さくら', ['鈴木', 'さくら'], /^お名前：/],
  ['株式会社ミライの山田と申します', ['山田'], /^株式会社ミライの\p{L}+と申します$/u],
  ['佐々木様、お待たせいたしました。', ['佐々木'], /様、お待たせいたしました。$/],
  ['中村さんの注文です', ['中村'], /さんの注文です$/],
  ['ジョン・スミスと申します。', ['ジョン', 'スミス'], /と申します。$/],
  ['ブラウン様、ありがとうございます。', ['ブラウン'], /様、ありがとうございます。$/],
  ['氏名は高橋一郎です', ['高橋', '一郎'], /^氏名は.+です$/],
  ['電話番号は090-1234-5678です', ['1234-5678'], /^電話番号は\d{3}-\d{4}-\d{4}です$/],
  // Korean
  ['제 이름은 김민수입니다.', ['김', '민수'], /^제 이름은 .+입니다\.$/],
  ['저는 박서연이라고 합니다', ['박', '서연'], /이라고 합니다$/],
  ['안녕하세요, 저는 최지우입니다. 환불해 주세요.', ['최', '지우'], /입니다\. 환불해 주세요\.$/],
  ['이름: 남궁민수', ['남궁', '민수'], /^이름: /],
  ['김민수 고객님, 확인했습니다.', ['김', '민수'], / 고객님, 확인했습니다\.$/],
  ['이영희님 안녕하세요', ['이영희', '영희'], /님 안녕하세요$/],
  ['제 번호는 010-1234-5678이에요', ['1234-5678'], /이에요$/],
];

describe('names in East Asian scripts', () => {
  it.each(planted)('%s', (text, gone, stays) => {
    const [made = ''] = masked([text]);
    for (const each of gone) expect(made).not.toContain(each);
    expect(made).toMatch(stays);
    expect(masked([text])).toEqual([made]);
  });

  it.each([
    '我叫了一辆车，师傅一直没来。',
    '我叫客服帮我退货。',
    '我是高级会员，我想退款。',
    '我是金卡会员。',
    '我是昨天下单的。',
    '各位先生女士，大家好。',
    '任何先生都可以买。',
    '国王明天来我们店里。',
    '这是白色的毛衣，价格是1234567元。',
    '请问这个商品什么时候到？',
    '私は学生です。',
    '私は大丈夫です。',
    '私は日本人です。',
    'お客様、スタッフさんに聞いてください。',
    '名前は何ですか。',
    'お名前は何ですか',
    '返品したいと言いました。',
    '合計は1234567円です。',
    '저는 학생입니다.',
    '저는 한국인입니다.',
    '저는 이용자입니다.',
    '고객님, 주문번호를 알려 주세요.',
    '선생님 감사합니다.',
    '날씨가 좋네요. 글씨가 작아요. 아저씨가 왔어요.',
    '이름은 뭐예요?',
    '주문한 이것은 하늘색입니다.',
  ])('leaves words as they are: %s', (text) => {
    expect(masked([text])).toEqual([text]);
  });

  it('a name that appears once is masked in the whole conversation, and its parts refer to the same person', () => {
    const [, first = '', second = '', third = ''] = masked([
      '我叫王小明。',
      '王小明的订单',
      '小明你好，王先生你好',
      '国王小明星',
    ]);
    const [surname = '', given = ''] = first.replace('的订单', '').split(' ');
    expect(second).toBe(`${given}你好，${surname}先生你好`);
    expect(third).not.toContain('王小明');
    expect(masked(['私は田中です。', '田中さんですね。', '山田中学校に送って'])[2]).toBe('山田中学校に送って');
    const korean = masked(['제 이름은 김민수입니다.', '김민수의 주문과 민수가 산 것', '이민수석 회의']);
    expect(korean[1]).not.toMatch(/김|민수/);
    expect(korean[2]).toBe('이민수석 회의');
  });

  it('a name in a field is masked wherever it appears', () => {
    const masker = maskerOf({ seed: 'test' });
    const call = {
      customer: { name: '山本 健一', email: 'k@y.jp' },
      姓名: '刘洋',
      고객명: '한지민',
      상품명: '한지공예',
    };
    const texts = ['山本健一', '山本 健一の件', '请联系刘洋处理', '한지민에게 보내 주세요'];
    const { text, json } = masker.conversation([{ value: call }, ...texts.map((value) => ({ value }))]);
    const made = JSON.stringify([json(call as Json), texts.map(text)]);
    expect(made).not.toMatch(/山本|健一|刘洋|한지민/);
    expect(made).toContain('한지공예');
    expect(masker.counts().name).toBe(3);
  });

  const database: JsonObject = {
    customers: {
      C1: { name: '王小明', email: 'xm@shop.cn' },
      C2: { name: '田中太郎', email: 'taro@shop.jp' },
      C3: { name: '김민수', email: 'ms@shop.kr' },
    },
    products: { P1: { name: '龙井茶' } },
  };

  it('persons of the domain’s own database stay', () => {
    const texts = ['我叫王小明，王先生要龙井茶', '田中太郎と申します', '제 이름은 김민수입니다'];
    expect(masked(texts, keptBy([database]))).toEqual(texts);
    const [other] = masked(['我叫王大力。'], keptBy([database]));
    expect(other).not.toContain('大力');
  });

  it('names of a database that is a copy of the real one are masked without any introduction', () => {
    const made = masked(
      ['麻烦查一下王小明的订单，他要龙井茶', '田中太郎の注文', '김민수가 주문했어요'],
      knownFrom([database]),
    ).join(' ');
    expect(made).not.toMatch(/王|小明|田中|太郎|김민수/);
    expect(made).toContain('龙井茶');
  });

  it('a value of the database is kept directly next to other characters', () => {
    const options = keptBy([{ orders: { W10045: { status: 'open' } } }]);
    expect(masked(['注文W10045について', '订单W99999没到'], options)[0]).toBe('注文W10045について');
    expect(masked(['注文W10045について', '订单W99999没到'], options)[1]).not.toContain('W99999');
  });

  it.each([
    ['王小明', ['王', '小明']],
    ['欧阳娜', ['欧阳', '娜']],
    ['田中太郎', ['田中', '太郎']],
    ['佐藤 花子', ['佐藤', '花子']],
    ['김민수', ['김', '민수']],
    ['남궁민수', ['남궁', '민수']],
    ['ジョン・スミス', ['ジョン', 'スミス']],
    ['小红', ['小红']],
    ['민수', ['민수']],
  ])('%s has parts', (name, parts) => {
    expect(partsOfName(name)).toEqual(parts);
    expect(isFullName(name)).toBe(parts.length > 1);
  });
});
