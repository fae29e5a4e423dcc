import { expect, test } from 'vitest';
import { mayReadAuditLog, parsePage } from './audit_log.ts';
import { who } from './session.ts';

test('records are read as they are, and entries without a number are left out', () => {
  const record = {
    seq: 7,
    time: 't',
    principal: 'p',
    action: 'sql',
    target: '',
    arguments: { query: 'x' },
    result: 'done',
  };
  const page = parsePage({ records: [record, { time: 't' }, 5], next: 6 });
  expect(page.next).toBe(6);
  expect(page.records).toEqual([
    {
      seq: 7,
      time: 't',
      principal: 'p',
      action: 'sql',
      target: '',
      details: '{"query":"x"}',
      result: 'done',
    },
  ]);
  expect(parsePage(undefined)).toEqual({ records: [], next: undefined });
});

test('only an administrator is offered the log', () => {
  who.value = { kind: 'person', name: 'ada', verbs: ['read-live'] };
  expect(mayReadAuditLog.value).toBe(false);
  who.value = { kind: 'person', name: 'ada', verbs: ['read-live', 'administration'] };
  expect(mayReadAuditLog.value).toBe(true);
});
