/**
 * A task for order-desk whose agent ignores the results of its calls, while its service fails now and then: with seed
 * 1, trial 1 fails, and trials 0, 2 and 3 pass. No model takes part.
 */
export const outageTask = `id: address-in-an-outage
description: The address service is down now and then, and this agent does not look at what came back.
split: test
persona: patient
user:
  goal: You are Kira Silva. You have moved, and your order W1012 should go to 9 Garden Close, Dunmore.
  opening: Hi, I'm Kira Silva, kira.silva@example.com. Please send my order W1012 to 9 Garden Close, Dunmore.
  known:
    email: kira.silva@example.com
    name: Kira Silva
    order_id: W1012
    address: 9 Garden Close, Dunmore
faults:
  - { type: outage, tool: change_address, chance: 0.3 }
actions:
  - { tool: find_customer_by_email, arguments: { email: kira.silva@example.com } }
  - { tool: get_order, arguments: { order_id: W1012 } }
  - { tool: change_address, arguments: { order_id: W1012, address: "9 Garden Close, Dunmore" } }
agent: scripted
script:
  - - { tool: find_customer_by_email, arguments: { email: kira.silva@example.com } }
  - - { tool: get_order, arguments: { order_id: W1012 } }
  - Shall I send W1012 to 9 Garden Close, Dunmore?
  - - { tool: change_address, arguments: { order_id: W1012, address: "9 Garden Close, Dunmore" } }
  - Done, W1012 goes to 9 Garden Close, Dunmore.
`;
