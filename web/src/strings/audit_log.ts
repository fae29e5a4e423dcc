/** The audit log. */
export const auditLogStrings = {
  auditLog: {
    title: 'Audit log',
    open: 'Audit log: who did what',
    principal: 'Principal',
    action: 'Action begins with',
    result: 'Result begins with',
    from: 'From',
    fromHint: '-1d or 2026-05-04 12:00',
    show: 'Show',
    more: 'Show older records',
    none: 'No record matches.',
    checking: 'The chain of the log is being checked.',
    intact: (records: number, head: string) =>
      `Verified: ${records} records, none changed or removed, up to ${head}.`,
    damaged: (finding: string) => `DAMAGED: ${finding}`,
    head: 'Keep this number and hash at another place: oasis audit-log verify --head finds exchanged records with it.',
  },
};
