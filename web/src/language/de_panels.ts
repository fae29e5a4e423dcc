import type { Translation } from './translation.ts';

const zustaende = new Map([
  ['running', 'Läuft'],
  ['backing_off', 'Wartet auf den Neustart'],
  ['stopped', 'Angehalten'],
  ['failed', 'Ausgefallen'],
]);

const gesundheit = new Map([
  ['ok', 'gut'],
  ['degraded', 'eingeschränkt'],
  ['failing', 'gestört'],
]);

/** Unterbrechungen: Kein Messwert fehlt. */
const unterbrechungen = new Map([
  ['epoch_changed', 'der DAC ist neu gestartet'],
  ['node_restart', 'der Knoten ist neu gestartet; seine Folgenummern beginnen wieder bei 1'],
  ['reconnected', 'die Seite hat ihre Verbindung verloren und sich neu verbunden'],
  ['disabled', 'die Sonde war ausgeschaltet'],
  ['node_offline', 'der Knoten war offline'],
  ['silent', 'es wurde nicht gemessen; kein Messwert fehlt'],
  [
    'no_value',
    'der Ausdruck hat keinen Wert: Eine Eingabe fehlt oder ist zu alt, oder das Ergebnis ist keine Zahl',
  ],
]);

/** Ursachen: docs/reference/loss.md. */
const ursachen = new Map<string, string>([
  ['ring_full', 'der Ring der Sonde war voll'],
  ['spool_full', 'der Spool des Knotens war voll, oder seine Datei ist beschädigt'],
  ['invalid_row', 'ihre Zeilen passten nicht zum Schema des Sondentyps, oder waren zu lang für einen Batch'],
  [
    'not_taken',
    'der Knoten hat seine Sonde eine Sekunde oder länger nicht aufgerufen: Er war angehalten, oder sein Rechner war beschäftigt',
  ],
  [
    'kept_back',
    'der Flugschreiber der Sonde hat sie zurückgehalten, weil in ihrer Nähe nichts ausgelöst hat',
  ],
  [
    'node_dropped',
    'der Knoten hat sie nicht gemessen oder verworfen; die Ursache steht in der Bilanz des DAC',
  ],
  ['node_restart', 'der Prozess des Knotens endete, bevor er sie senden konnte'],
  ['network', 'sie wurden als Datagramme oder von einem Gerät an sein Gateway gesendet und kamen nicht an'],
  [
    'before_epoch',
    'sie gingen an einen früheren Lauf des DAC, oder an einen anderen DAC, bevor der Knoten hierher kam',
  ],
  ['other_dac', 'sie gingen an einen anderen DAC, während der Knoten dort war'],
  [
    'epoch_changed',
    'die Stelle des Lesers gehört zu einem früheren Lauf des DAC, und kein Archiv hat dessen Messwerte',
  ],
  ['log_retention', 'das Topic-Log hatte sie schon gelöscht, als der Leser danach fragte'],
  ['latest', 'der Leser wollte nur den neuesten Messwert'],
  ['unreadable', 'ihre Bytes passen nicht zu ihrem Schema'],
  ['archive_lag', 'das Topic-Log hat sie gelöscht, bevor das Archiv sie gelesen hatte'],
  ['archive_stopped', 'das Archiv war angehalten, und das Topic-Log hat sie inzwischen gelöscht'],
  ['disk_full', 'die Platte des Archivs war voll, und das Topic-Log hat sie inzwischen gelöscht'],
  ['disk_error', 'die Platte des Archivs hatte Fehler, und das Topic-Log hat sie inzwischen gelöscht'],
  ['archive_retention', 'das Archiv hat sie nach seinen Regeln gelöscht'],
  ['copy_lag', 'das Topic-Log hat sie gelöscht, bevor NATS JetStream eine Kopie bestätigt hatte'],
  ['copy_refused', 'NATS JetStream nimmt keine Nachricht dieser Größe'],
  ['damaged', 'ihre Bytes auf der Platte sind nicht die, die geschrieben wurden'],
  ['read_error', 'die Platte konnte sie nicht lesen; ein neuer Versuch kann gelingen'],
  ['not_recorded', 'die Aufzeichnung, die abgespielt wird, hat sie nicht'],
  ['unexplained', 'kein Teil von OASIS kennt die Ursache: Bitte melden Sie das'],
]);

/** Wörter früherer Versionen: sdk/typescript/src/loss.ts. */
const fruehere = new Map([
  ['dropped_ring', 'ring_full'],
  ['dropped_spool', 'spool_full'],
  ['invalid', 'invalid_row'],
  ['archive_behind', 'archive_lag'],
  ['unknown', 'unexplained'],
]);

/** Deutsch: Panels und Listen, deren Texte mit der Seite geladen werden. */
export const dePanels = {
  panels: {
    kind: {
      instance: 'Werte',
      auto: 'Panel',
      series: 'Diagramm',
      states: 'Zustände',
      gauge: 'Anzeige',
      histogram: 'Histogramm',
      events: 'Ereignisse',
      logs: 'Log-Suche',
      rose: 'Wind',
      xy: 'XY',
      spectrum: 'Spektrum',
      statistics: 'Statistik',
      number: 'Zahl',
      text: 'Text',
      overlay: 'Kurven',
      fleet: 'Flotte',
      map: 'Karte',
      sql: 'SQL',
      traces: 'Traces',
      heat: 'Heatmap',
      ledger: 'Bilanz',
      alarms: 'Alarme',
      'alarm-history': 'Alarmverlauf',
      rules: 'Regeln',
      'test-runs': 'Testläufe',
    },
    mode: { lines: 'Diagramm', shares: 'Anteile' },
    intervals: 'Abstände',
    beside: (metric, runs) => `${metric} in ${runs}`,
    instances: (count) => `${count} Instanzen`,
    over: (y, x) => `${y} über ${x}`,
    loading: 'Wird geladen\u2026',
    notLoaded: 'Der DAC hat den Code dieses Panels nicht geschickt.',
    loadAgain: 'Noch einmal laden',
    settings: 'Einstellungen des Panels (i)',
    noSettings: 'Das aktive Panel hat keine Einstellungen: Diagramme, Anzeigen und Zahlen haben welche.',
    close: (title) => `${title} schließen`,
    said: {
      panelOpened: (title) => `${title} geöffnet`,
      panelClosed: (title) => `${title} geschlossen`,
      groupMaximized: (title) => `${title} maximiert`,
      groupRestored: (title) => `${title} wiederhergestellt`,
    },
    chart: (lines) => `Diagramm über der Zeit von ${lines}; die Werte stehen darunter`,
    waiting: (instance) => `Warten auf ${instance}\u2026`,
  },

  histogram: {
    title: 'Verteilung der Werte',
    empty: 'Keine Messwerte in der gezeigten Zeit.',
    samples: 'Messwerte',
    of: (samples, all) => `${samples} von ${all}`,
    min: 'Min',
    median: 'Median',
    mean: 'Mittel',
    p99: '99. Perzentil',
    max: 'Max',
    scale: 'Höhe: Wurzel der Anzahl',
    bar: (from, count) => `ab ${from}: ${count}`,
  },

  rose: {
    empty: 'Kein Wind in der gezeigten Zeit.',
    now: (now) => `Wind jetzt: ${now}`,
    atEnd: (then) => `Wind am Ende der gezeigten Zeit: ${then}`,
    points: ['N', 'O', 'S', 'W'],
    below: (bound) => `unter ${bound}`,
    above: (bound) => `${bound} und mehr`,
  },

  table: {
    columnEnd: 'Zeit',
    figures: ['Min', 'Max', 'letzter'],
    rows: (step) =>
      `Gespeichert: Minimum, Maximum und letzter Wert jeder Spalte von Pixeln (${step}). Die Taste w speichert jeden Messwert.`,
  },

  states: { mixed: (last) => `mehrere, zuletzt ${last}` },

  events: {
    filter: 'Ereignisse suchen',
    allTime: 'Zu allen Zeiten suchen',
    searched: (found, isCut, searched) =>
      `${isCut ? `Die neuesten ${found}` : found} gefunden in den neuesten ${searched} der gezeigten Zeit`,
    empty: 'Keine Ereignisse in der gezeigten Zeit.',
    trace: 'Trace',
    traceTip: 'Den Trace dieses Eintrags zeigen',
    noTrace: 'Der Trace dieses Eintrags ist nicht in der gezeigten Zeit, oder er ist noch nicht zu Ende.',
  },

  legend: {
    tip: (doc) =>
      `${doc}\nKlick: zeigen oder verbergen. Alt-Klick: nur diese Linie zeigen. Rechtsklick: den Wert kopieren.`,
    sample: (value, time) => `${value}, der Messwert von ${time}`,
    last: (value, time) => `${value}, der letzte Messwert seiner Stelle im Diagramm, von ${time}`,
    rate: (value, time) => `${value} um ${time}, aus den Schritten des Zählers davor`,
    between: (low, high) => `Messwerte dort: ${low} bis ${high}`,
    nothing: 'Zu dieser Zeit noch kein Messwert',
  },

  expressions: {
    title: 'Ausdruck',
    add: 'Ausdruck hinzufügen (e)',
    change: (text) => `${text} ändern`,
    remove: (text) => `${text} entfernen`,
    done: 'Fertig',
    cancel: 'Abbrechen',
    example: 'instanz.metrik * 2',
    suggestions: 'Vorschläge',
    unit: (unit) => `Ergebnis in ${unit}`,
    plain: 'Ergebnis ohne Einheit',
    waiting: (instance) => `Warten auf die Metriken von ${instance}\u2026`,
    hint: 'Metriken als instanz.metrik oder knoten/instanz.metrik, Zahlen, + - * / ^ und Funktionen.',
    failed: (text, problem) => `${text}: ${problem}`,
    full: (most) => `Ein Diagramm hat höchstens ${most} Ausdrücke: Entfernen Sie zuerst einen.`,
    noUnit: 'keine Einheit',
    functions: {
      abs: 'abs(x): Betrag',
      sqrt: 'sqrt(x): Quadratwurzel',
      min: 'min(x, y): der kleinere',
      max: 'max(x, y): der größere',
      exp: 'exp(x): e hoch x',
      log: 'log(x): natürlicher Logarithmus',
      sin: 'sin(x): Sinus, jeder Einheit von Winkeln',
      cos: 'cos(x): Kosinus, jeder Einheit von Winkeln',
      rate: 'rate(x): Änderung je Sekunde',
      mean: 'mean(x, Sekunden): gleitendes Mittel',
    },
    tooLong: (most) => `Ein Ausdruck hat höchstens ${most} Zeichen.`,
    openQuote: 'Ein Anführungszeichen ist nicht geschlossen.',
    badQuote: (text) => `${text} ist kein Name in Anführungszeichen.`,
    openBracket: 'Eine Klammer [ ist nicht geschlossen.',
    unexpected: (text) => `${text} wird hier nicht erwartet.`,
    expected: (symbol) => `${symbol} fehlt.`,
    unfinished: 'Der Ausdruck ist nicht vollständig.',
    tooDeep: 'Der Ausdruck hat zu viele Teile.',
    tooManyInputs: (most) => `Ein Ausdruck hat höchstens ${most} Metriken.`,
    unknownFunction: (name) => `Es gibt keine Funktion ${name}.`,
    wrongCount: (name, least, most) =>
      least === most
        ? `${name} nimmt ${least} ${least === 1 ? 'Wert' : 'Werte'}.`
        : `${name} nimmt ${least} bis ${most} Werte.`,
    unitExpected: (how) => `Schreiben Sie nach ${how} eine Einheit in Klammern: ${how} [kW].`,
    metricExpected: 'Nach dem Punkt fehlt der Name einer Metrik.',
    noMetric: (name) =>
      `${name} ist keine Metrik. Schreiben Sie instanz.metrik, und Namen mit anderen Zeichen in Anführungszeichen: "plant-7"/oven.temperature.`,
    noInput: 'Der Ausdruck hat keine Metrik.',
    unknownInstance: (name) => `Es gibt keine Instanz ${name}.`,
    ambiguous: (instance, choices, hasMore) =>
      `Mehrere Knoten haben eine Instanz ${instance}: Schreiben Sie ${choices}${hasMore ? ' oder einen anderen Knoten' : ''}.`,
    unknownMetric: (instance, metric) => `${instance} hat keine Metrik ${metric}.`,
    notANumber: (name) => `${name} ist keine Zahl.`,
    longUnit: (most) => `Eine Einheit hat höchstens ${most} Zeichen.`,
    cannotAdd: (left, right) => `${left} und ${right} lassen sich nicht addieren.`,
    cannotSubtract: (left, right) => `${right} lässt sich nicht von ${left} abziehen.`,
    cannotCompare: (left, right) => `${left} und ${right} lassen sich nicht vergleichen.`,
    cannotConvert: (from, to) => `${from} lässt sich nicht in ${to} umrechnen.`,
    affine: (unit) =>
      `${unit} beginnt nicht bei null und lässt sich nicht multiplizieren oder abziehen: Rechnen Sie es mit in [K] um.`,
    unitInExponent: (unit) => `Ein Exponent hat keine Einheit, auch nicht ${unit}.`,
    variableExponent: (unit) => `Ein Wert in ${unit} nimmt nur eine Zahl als Exponenten.`,
    noPower: (unit) => `Diese Potenz von ${unit} gibt es nicht.`,
    noRoot: (unit) => `${unit} hat keine Quadratwurzel.`,
    unitInFunction: (name, unit) => `${name} nimmt einen Wert ohne Einheit, nicht ${unit}.`,
    badWindow: (most) => `Der zweite Wert von mean ist eine Zahl von Sekunden, höchstens ${most}.`,
  },

  ledger: {
    archiveWarning: (detail) => `Das Archiv wird Messwerte löschen: ${detail}.`,
    door: 'Tür',
    bandwidth: 'Je Sekunde empfangen',
    messages: 'Nachrichten',
    total: 'Insgesamt empfangen',
    offset: 'Abweichung der Uhr',
    roundTrip: 'Umlaufzeit',
    columns: [
      ['Instanz', 'Die beobachteten Instanzen', 'is-text'],
      ['Fehlend', 'Messwerte, die gemessen wurden und den DAC nicht erreichten, seit er gestartet ist'],
      ['Ursache', 'Ursachen der fehlenden Messwerte', 'is-text'],
      ['Hier empfangen', 'Messwerte, die diese Seite empfing, seit sie geöffnet ist'],
      [
        'Hier nicht empfangen',
        'Messwerte, die der DAC hat oder hatte und die diese Seite nicht empfing, seit sie geöffnet ist, mit ihren Ursachen',
      ],
      ['Rate', 'Gemessen, über die letzte Sekunde oder acht Messwerte'],
      ['Alter', 'Zeit, seit der neueste Messwert entstand, Uhren korrigiert'],
      ['Im Knoten', 'Zeit des neuesten Messwerts in seinem Knoten, nach dessen Uhr'],
      ['Zum DAC', 'Vom Knoten in den DAC, Uhren korrigiert'],
      ['Zur Seite', 'Vom DAC in diesen Browser, Uhren korrigiert'],
      [
        'Bei Ankunft',
        'Alter des neuesten Messwerts, als er hier ankam, und das Alter, das nach Laufzeiten, Tür und Rate zu erwarten ist',
      ],
      ['Uhr des Knotens', 'Uhr des DAC minus Uhr des Knotens, und ihre Unsicherheit'],
    ],
    scopes: (dac, page) =>
      `Gezeigt werden die beobachteten Instanzen; die Flotte hat alle. Fehlend: seit der DAC gestartet ist${dac === '' ? '' : `, um ${dac}`}. Karten, Flotte und API haben dieselbe Zahl. Hier empfangen und hier nicht empfangen: seit diese Seite geöffnet ist, um ${page}.`,
    keptBack: (count) => `${count} absichtlich zurückgehalten`,
    within: (offset, half) => `${offset} \u00b1 ${half}`,
    expected: (age) => `erwartet ${age}`,
    filter: 'Nach Knoten oder Instanz filtern',
    causeFilter: 'Nach Ursache filtern',
    anyCause: 'Alle Ursachen',
    causeChoice: (cause) => [cause, ursachen.get(fruehere.get(cause) ?? cause)].filter(Boolean).join(': '),
    nothing: 'Keine beobachtete Instanz passt zum Filter. Die Flotte hat die übrigen.',
    gap: (time, numbers, count) => `${time}: ${numbers} (${count})`,
    path: {
      taken: 'von der Sonde gemessen',
      received: 'vom DAC empfangen',
      here: 'hier empfangen',
      tip: 'Alle 2 s vom DAC gelesen. Gemessen und vom DAC empfangen: seit der DAC gestartet ist, und was er von früher weiß. Hier empfangen: Messwerte desselben Logs, die der DAC dieser Seite geschickt hat',
      recorded: 'im Flugschreiber oder von ihm zurückgehalten: Seitdem hat kein Auslöser ausgelöst',
      place: {
        to_come: 'auf dem Weg zum DAC, oder sie warten im Knoten',
        stored_before: 'von einer früheren Epoche des DAC gespeichert',
      },
    },
  },

  gaps: {
    title: 'Lücken und Unterbrechungen',
    none: 'Keine Lücken oder Unterbrechungen in den Messwerten, die diese Seite hat.',
    noneOffline: 'Der Knoten ist offline. Lücken in seiner Vergangenheit zeigen die Diagramme.',
    missing: (count, isOne) => (isOne ? `${count} Messwert fehlt` : `${count} Messwerte fehlen`),
    amount: (cause, count, isOne) => {
      const samples = isOne ? `${count} Messwert` : `${count} Messwerte`;
      if (cause === 'kept_back') return `${samples} zurückgehalten`;
      return isOne ? `${samples} fehlt` : `${samples} fehlen`;
    },
    numbers: (from, to) => (from === to ? `#${from}` : `#${from} bis #${to}`),
    describe: beschreibung,
    note: (duration, ...causes) => [duration, ...causes].filter(Boolean).join(' \u00b7 '),
  },

  markers: {
    choose: 'Log-Einträge, die in Diagrammen markiert sind',
    levels: {
      off: 'Keine Marken',
      error: 'Fehler markieren',
      warn: 'Warnungen markieren',
      info: 'Infos markieren',
    },
    levelOf: (level) =>
      ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'][
        Math.min(5, Math.max(0, Math.floor((level - 1) / 4)))
      ],
    record: (time, level, instance, text) => `${time} ${level} ${instance}: ${text}`,
    alarm: (time, severity, rule) => `${time} Alarm, ${severity}: ${rule}`,
    more: (count) => `${count} weitere`,
    since: (time) => `Log-Einträge erst ab ${time} markiert`,
  },

  handlers: {
    title: 'Handler',
    tip: 'Handler tun etwas mit Messwerten im DAC, zum Beispiel das Archiv',
    status: (condition, activity) =>
      [zustaende.get(condition) ?? condition, activity].filter(Boolean).join(', '),
    restarts: (count) => (count === 1 ? '1 Neustart' : `${count} Neustarts`),
  },

  goingOn: {
    waiting: 'Die Seite macht gleich bei einem anderen DAC weiter.',
    looking: 'Die Seite sucht einen anderen DAC, der arbeitet.',
    opening: (name) => `${name} wird geöffnet.`,
    paused:
      'Die Seite ist angehalten und bleibt deshalb hier. Gehen Sie zurück zu jetzt (l), um bei einem anderen DAC weiterzumachen.',
    stays: 'Die Seite bleibt hier, wie Sie es gewählt haben.',
    tooOften: 'Die Seite hat in den letzten 10 Minuten zu oft den DAC gewechselt und bleibt deshalb hier.',
    stay: 'Hier bleiben',
    goOn: 'Bei einem anderen DAC weitermachen',
    went: (from, to, time) =>
      `Die Seite ist um ${time} von ${from} zu ${to} gewechselt: ${from} hat nicht geantwortet.`,
    close: 'Schließen',
    goesOn: 'Bei einem anderen DAC weitermachen, wenn dieser geendet hat',
    goesOnTip: 'Dieser Browser merkt sich die Wahl für diesen DAC.',
  },

  dacs: {
    title: 'DACs',
    open: (live, all) => `DACs (d): ${live} von ${all} live`,
    openUnknown: 'DACs (d)',
    columns: {
      name: 'DAC',
      kind: 'Art',
      state: 'Zustand',
      health: 'Gesundheit',
      nodes: 'Knoten',
      readers: 'Leser',
      rate: 'Messwerte/s',
      heard: 'Gehört',
    },
    kind: (isRelay) => (isRelay ? 'Relay' : 'DAC'),
    kindTip: 'Ein Relay hat keine eigenen Knoten: Es gibt die von DACs weiter.',
    state: (isLive) => (isLive ? 'live' : 'verspätet'),
    stateTip: 'Ein DAC ist verspätet, wenn der TEM 1.5 s lang nichts von ihm gehört hat.',
    health: (status) => gesundheit.get(status) ?? 'unbekannt',
    ago: (age) => `vor ${age}`,
    own: 'diese Seite',
    last: 'zuletzt geöffnet',
    openTip: (address) => `${address} mit diesem Layout öffnen`,
    noAddress: 'Die Adresse dieses DAC lässt sich nicht öffnen.',
    filter: 'Nach Namen filtern',
    more: (count) => `${count} weitere: Tippen Sie, um zu filtern`,
    none: 'Der TEM dieses DAC hat noch nicht geantwortet.',
    noMatch: 'Kein DAC heißt so.',
    asOf: (age) => `Die Liste ist ${age} alt: Der DAC antwortet nicht.`,
    source:
      'Die Liste ist die des TEM in diesem DAC. Ein Browser lässt eine Seite nur den DAC fragen, von dem sie kam.',
    via: (tem) => `gehört von ${tem}`,
    tems: 'Andere TEMs',
    temState: (isLive) => (isLive ? 'antwortet' : 'antwortet nicht'),
    temTip: (address) => `${address} mit diesem Layout öffnen und merken`,
    alone: 'Dies ist ein TEM. Wählen Sie den DAC, den Sie beobachten möchten.',
    location: 'Adresse des TEM',
    locationHint:
      'Adresse eines anderen TEM, wie http://tem.example.org:7000. Seine Seite öffnet sich mit diesem Layout.',
    openTem: 'Öffnen',
    forget: 'Vergessen',
    notALocation: (text) =>
      text.trim() === '' ? 'Geben Sie eine Adresse ein.' : `${text.trim()} ist keine Adresse einer Seite.`,
    typed: (location) => `In diesem Browser behalten: ${location}`,
    byLink: (location) => `Genannt von dem Link, dem Sie gefolgt sind: ${location}`,
    silent: (name) => `${name ?? 'Der DAC'} antwortet nicht.`,
    openOther: (name) => `${name} öffnen`,
    allOthers: (count) => `Alle ${count} anderen DACs`,
    askTem: (location) => `Einen anderen DAC bei ${location} finden`,
  },

  auditLog: {
    title: 'Audit-Log',
    open: 'Audit-Log: wer was getan hat',
    principal: 'Wer',
    action: 'Aktion beginnt mit',
    result: 'Ergebnis beginnt mit',
    from: 'Ab',
    fromHint: '-1d oder 2026-05-04 12:00',
    show: 'Zeigen',
    more: 'Ältere Einträge zeigen',
    none: 'Kein Eintrag passt.',
    checking: 'Die Kette des Logs wird geprüft.',
    intact: (records, head) => `Geprüft: ${records} Einträge, keiner geändert oder entfernt, bis ${head}.`,
    damaged: (finding) => `BESCHÄDIGT: ${finding}`,
    head: 'Behalten Sie diese Nummer und den Hash an einem anderen Ort: Damit findet oasis audit-log verify --head ausgetauschte Einträge.',
  },
} satisfies Translation;

function beschreibung(cause: string, count: number): string {
  return (
    (count === 0 ? unterbrechungen.get(cause) : undefined) ??
    ursachen.get(fruehere.get(cause) ?? cause) ??
    cause
  );
}
