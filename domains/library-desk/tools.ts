import { defineTools, ToolError } from 'rehearsal';
import * as z from 'zod';

type Member = { name: string; postcode: string; card: string };
type Book = { title: string; author: string; price: number; copies: number };
type Loan = { member: string; book: string; due: string; renewals: number; lost?: boolean };
type Reservation = { member: string; book: string; placed: string };
type Fee = { member: string; reason: string; amount: number; payment?: string };
type Payment = { member: string; amount: number; at: string };
type Room = { name: string; seats: number };
type Booking = { member: string; room: string; day: string; time: string };
type Wish = { member: string; title: string; author: string };
type LibraryDesk = {
  members: Record<string, Member>;
  books: Record<string, Book>;
  loans: Record<string, Loan>;
  reservations: Record<string, Reservation>;
  fees: Record<string, Fee>;
  payments: Record<string, Payment>;
  rooms: Record<string, Room>;
  bookings: Record<string, Booking>;
  wishes: Record<string, Wish>;
  /** The request to the staff, by member id. */
  handovers: Record<string, string>;
};

const { tool } = defineTools<{ agent: LibraryDesk }>();

const loanDays = 21;
const days = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;
const times = ['morning', 'afternoon', 'evening'] as const;

const member_id = z.string().describe('As find_member returns it, such as "M2".');
const title = z.string().describe('Title of the book.');
const day = z.enum(days).describe('A day of this week.');

// Who is asking

export const find_member = tool({
  description: 'Identify a member by the number of the library card.',
  effect: 'read',
  input: z.object({ card: z.string().describe('Four digits.') }),
  run: ({ card }, { db }) => identified(db, (member) => member.card === card, `the card ${card}`),
});

export const find_member_by_name = tool({
  description: 'Identify a member by full name and postcode.',
  effect: 'read',
  input: z.object({ name: z.string(), postcode: z.string() }),
  run: ({ name, postcode }, { db }) =>
    identified(
      db,
      (member) => same(member.name, name) && member.postcode === postcode,
      `the name ${name} in ${postcode}`,
    ),
});

// What there is

export const list_loans = tool({
  description: 'The loans of a member, with titles and due dates.',
  effect: 'read',
  input: z.object({ member_id }),
  run: ({ member_id }, { db }) =>
    owned(db.loans, member_id)
      .filter(([, loan]) => !loan.lost)
      .map(([loan_id, { book, due, renewals }]) => ({ loan_id, title: titleOf(db, book), due, renewals })),
});

export const list_reservations = tool({
  description: 'The reservations of a member.',
  effect: 'read',
  input: z.object({ member_id }),
  run: ({ member_id }, { db }) =>
    owned(db.reservations, member_id).map(([reservation_id, { book }]) => ({
      reservation_id,
      title: titleOf(db, book),
    })),
});

export const list_fees = tool({
  description: 'The unpaid fees of a member.',
  effect: 'read',
  input: z.object({ member_id }),
  run: ({ member_id }, { db }) =>
    unpaid(db, member_id).map(([fee_id, { reason, amount }]) => ({ fee_id, reason, amount })),
});

export const find_book = tool({
  description: 'A book by its title: how many copies are on the shelf, and how many members wait for it.',
  effect: 'read',
  input: z.object({ title }),
  run: ({ title }, { db }) => {
    const found = Object.entries(db.books).find(([, book]) => same(book.title, title));
    if (!found) throw new ToolError(`the library has no book with the title ${title}`);
    const [book_id, book] = found;
    return {
      book_id,
      title: book.title,
      author: book.author,
      on_shelf: onShelf(db, book_id),
      waiting: waiting(db, book_id),
    };
  },
});

export const list_rooms = tool({
  description: 'The reading rooms with the times that are free on a day.',
  effect: 'read',
  input: z.object({ day }),
  run: ({ day }, { db }) =>
    Object.entries(db.rooms).map(([room_id, { name, seats }]) => ({
      room_id,
      name,
      seats,
      free: times.filter((time) => isFree(db, room_id, day, time)),
    })),
});

// Loans

export const renew_loan = tool({
  description: 'Renew a loan by three weeks from its due date.',
  effect: 'write',
  input: z.object({ loan_id: z.string().describe('Such as "L11".') }),
  run: ({ loan_id }, { db }) => {
    const loan = row(db.loans, loan_id, 'loan');
    if (loan.lost) throw new ToolError(`the book of ${loan_id} is recorded as lost`);
    const due = new Date(Date.parse(loan.due) + loanDays * 86_400_000);
    loan.due = due.toISOString().slice(0, 10);
    loan.renewals += 1;
    return { loan_id, title: titleOf(db, loan.book), due: loan.due };
  },
});

export const record_lost = tool({
  description: 'Record the book of a loan as lost. The member has to pay its price.',
  effect: 'write',
  input: z.object({ loan_id: z.string() }),
  run: ({ loan_id }, { db, id }) => {
    const loan = row(db.loans, loan_id, 'loan');
    if (loan.lost) throw new ToolError(`the book of ${loan_id} is recorded as lost already`);
    const book = row(db.books, loan.book, 'book');
    loan.lost = true;
    const fee_id = id('F');
    db.fees[fee_id] = { member: loan.member, reason: `lost: ${book.title}`, amount: book.price };
    return { fee_id, title: book.title, amount: book.price };
  },
});

export const pay_fee = tool({
  description: 'Charge a fee to the account from which the member pays the library.',
  effect: 'write',
  input: z.object({ fee_id: z.string().describe('Such as "F31".') }),
  run: ({ fee_id }, { db, id, now }) => {
    const fee = row(db.fees, fee_id, 'fee');
    if (fee.payment) throw new ToolError(`${fee_id} is paid already`);
    const payment_id = id('P');
    db.payments[payment_id] = { member: fee.member, amount: fee.amount, at: now };
    fee.payment = payment_id;
    return { payment_id, reason: fee.reason, amount: fee.amount };
  },
});

// Reservations, wishes and rooms

export const reserve_book = tool({
  description: 'Reserve a book that is not on the shelf.',
  effect: 'write',
  input: z.object({ member_id, book_id: z.string().describe('As find_book returns it, such as "B4".') }),
  run: ({ member_id, book_id }, { db, id, now }) => {
    row(db.members, member_id, 'member');
    const { title } = row(db.books, book_id, 'book');
    if (owned(db.reservations, member_id).some(([, { book }]) => book === book_id))
      throw new ToolError(`${member_id} has reserved ${title} already`);
    const reservation_id = id('R');
    db.reservations[reservation_id] = { member: member_id, book: book_id, placed: now };
    return { reservation_id, title, waiting: waiting(db, book_id) };
  },
});

export const cancel_reservation = tool({
  description: 'Cancel a reservation.',
  effect: 'write',
  input: z.object({ reservation_id: z.string().describe('Such as "R21".') }),
  run: ({ reservation_id }, { db }) => {
    const { book } = row(db.reservations, reservation_id, 'reservation');
    delete db.reservations[reservation_id];
    return { reservation_id, title: titleOf(db, book) };
  },
});

export const book_room = tool({
  description: 'Book a reading room.',
  effect: 'write',
  input: z.object({
    member_id,
    room_id: z.string().describe('As list_rooms returns it, such as "X1".'),
    day,
    time: z.enum(times),
  }),
  run: ({ member_id, room_id, day, time }, { db, id }) => {
    row(db.members, member_id, 'member');
    const { name } = row(db.rooms, room_id, 'room');
    if (!isFree(db, room_id, day, time)) throw new ToolError(`the ${name} is taken on ${day} ${time}`);
    const booking_id = id('K');
    db.bookings[booking_id] = { member: member_id, room: room_id, day, time };
    return { booking_id, name, day, time };
  },
});

export const suggest_purchase = tool({
  description: 'Note the wish that the library buys a book that it does not have.',
  effect: 'write',
  input: z.object({ member_id, title, author: z.string() }),
  run: ({ member_id, title, author }, { db, id }) => {
    row(db.members, member_id, 'member');
    if (Object.values(db.books).some((book) => same(book.title, title)))
      throw new ToolError(`the library has ${title} already`);
    const wish_id = id('W');
    db.wishes[wish_id] = { member: member_id, title, author };
    return { wish_id, title };
  },
});

export const hand_over = tool({
  description: 'Hand the conversation over to the staff. It ends your part.',
  effect: 'write',
  generic: true,
  handsOff: true,
  input: z.object({ member_id, summary: z.string() }),
  run: ({ member_id, summary }, { db }) => {
    row(db.members, member_id, 'member');
    db.handovers[member_id] = summary;
    return 'ok';
  },
});

function identified(db: LibraryDesk, is: (member: Member) => boolean, by: string) {
  const found = Object.entries(db.members).find(([, member]) => is(member));
  if (!found) throw new ToolError(`there is no member with ${by}`);
  return { member_id: found[0], name: found[1].name };
}

function row<Row>(table: Record<string, Row>, id: string, what: string): Row {
  const found = table[id];
  if (!found) throw new ToolError(`there is no ${what} ${id}`);
  return found;
}

function owned<Row extends { member: string }>(table: Record<string, Row>, member: string): [string, Row][] {
  return Object.entries(table).filter(([, each]) => each.member === member);
}

const unpaid = (db: LibraryDesk, member: string) => owned(db.fees, member).filter(([, fee]) => !fee.payment);

const titleOf = (db: LibraryDesk, book: string) => row(db.books, book, 'book').title;

function onShelf(db: LibraryDesk, book: string): number {
  const lent = Object.values(db.loans).filter((loan) => loan.book === book).length;
  return row(db.books, book, 'book').copies - lent;
}

const waiting = (db: LibraryDesk, book: string) =>
  Object.values(db.reservations).filter((reservation) => reservation.book === book).length;

const isFree = (db: LibraryDesk, room: string, day: string, time: string) =>
  !Object.values(db.bookings).some((each) => each.room === room && each.day === day && each.time === time);

const same = (one: string, other: string) => one.trim().toLowerCase() === other.trim().toLowerCase();
