import { dePanels } from './de_panels.ts';
import type { Translation } from './translation.ts';

const stufen = new Map([
  ['raw', 'Messwerten'],
  ['1s', 'Sekundenwerten'],
  ['1m', 'Minutenwerten'],
  ['1h', 'Stundenwerten'],
]);

const unterbrechungen = new Map([
  ['silent', 'still: kein Messwert ist gekommen'],
  ['disabled', 'der Messfühler ist ausgeschaltet'],
  ['node_offline', 'der Knoten ist offline'],
  ['reconnected', 'die Seite hat keine Verbindung zum DAC'],
  ['no_value', 'der Ausdruck hat keinen Wert'],
]);

const stoerungen = new Map([
  ['disk_full', 'die Platte ist voll'],
  ['disk_error', 'die Platte meldet Fehler'],
  ['gone', 'sein Ordner wurde gelöscht, umbenannt oder ausgehängt'],
  ['stopped', 'es wurde angehalten (oasis handlers start archive)'],
]);

const warnungen = new Map([
  ['size_before_age', 'Das Archiv wird Messwerte vorzeitig löschen'],
  ['heavy_node', 'Ein Knoten füllt den größten Teil des Archivs'],
  ['pins_at_limit', 'Angeheftete Testläufe erreichen ihre Grenze'],
]);

const gruende: Record<string, string> = {
  connection_lost: 'nicht gesendet: keine Verbindung zum DAC',
  no_answer: 'der DAC hat nicht geantwortet',
  timeout: 'der Knoten hat 5 s lang nicht geantwortet',
  node_offline: 'der Knoten ist offline',
  node_moved: 'der Knoten ist mit einem anderen DAC verbunden',
  unknown: 'die Verbindung zum Knoten riss ab: vielleicht hat er den Befehl ausgeführt',
  refused: 'der Knoten hat abgelehnt',
  unknown_instance: 'der DAC kennt diese Instanz nicht',
  not_kept: 'nicht behalten',
};

const anmeldung: Record<string, string> = {
  provider_down:
    'Der Identitätsanbieter antwortet nicht. Melden Sie sich mit Kennwort an, oder versuchen Sie es später.',
  denied: 'Der Identitätsanbieter hat abgelehnt.',
  other_flow:
    'Diese Anmeldung begann in einem anderen Browser oder vor mehr als 10 Minuten. Versuchen Sie es noch einmal.',
  bad_answer:
    'Die Antwort des Identitätsanbieters ist nicht gültig. Versuchen Sie es noch einmal; den Grund nennt das Protokoll des DAC.',
  no_name:
    'Der Identitätsanbieter nennt keinen Benutzer. Sein Claim muss eingestellt werden (access.oidc.name_claim).',
  no_role: 'Keine Ihrer Gruppen hat hier eine Rolle. Fragen Sie einen Administrator.',
  no_account: 'Sie haben hier kein Konto, oder es gehört jemand anderem. Fragen Sie einen Administrator.',
  busy: 'Zu viele melden sich gerade an. Versuchen Sie es in einigen Sekunden noch einmal.',
};

const befehle = {
  title: 'Befehle',
  hertz: 'Rate in Hertz',
  hertzUnit: 'Hz',
  set: 'Setzen',
  preset: (hertz: string) => `Mit ${hertz} Hz messen`,
  enable: 'Einschalten',
  disable: 'Ausschalten',
  sampleNow: 'Jetzt messen',
  offline: 'Der Knoten ist offline und nimmt keine Befehle an.',
  trigger: 'Auslösen',
  triggerTip: (before: string, after: string) =>
    `Die Messwerte der ${before} davor und ${after} danach aus dem Flugschreiber senden`,
  demandTip: 'Die Sonde misst mit der höchsten Rate, die ein Leser anfordert, in diesen Grenzen',
  demandFrom: 'Nach Bedarf, von',
  demandTo: 'bis',
  demandOn: 'Folgen',
  demandOff: 'Rate behalten',
  follows: (min: string, max: string, asked: string) =>
    `Folgt dem Bedarf, ${min} bis ${max} Hz: ${asked} Hz angefordert`,
  reversed: 'Die erste Rate darf nicht über der zweiten liegen.',
  deadband: 'Totband',
  deadbandMetric: 'Metrik des Totbands',
  deadbandAny: 'jede',
  deadbandSet: 'Totband setzen',
  deadbandTip:
    'Gemessen wird, wenn sich eine Metrik um mehr als ihr Totband geändert hat; ohne Totband bei jeder Änderung',
  deadbandWrong: 'Geben Sie ein Totband von 0 oder mehr ein, oder nichts für jede Änderung.',
  outOfRange: 'Geben Sie eine Rate von 0.01 bis 1000 Hz ein.',
  idle: '\u00a0',
  kept: {
    rate: 'Rate',
    enabled: 'Messung',
    deadband: (metric: string) => `Totband von ${metric}`,
    hertz: (hertz: string) => `${hertz} Hz`,
    demand: (min: string, max: string) => `${min} bis ${max} Hz nach Bedarf`,
    on: 'ein',
    off: 'aus',
    anyChange: 'jede Änderung',
    unknown: 'unbekannt',
    local: 'diesem Rechner',
    by: (who: string, ago: string) => `behalten: vor ${ago} gesetzt von ${who}`,
    program: (value: string) => `vom Programm: ${value}`,
    thisRun: 'nur für diesen Lauf',
    waiting: (value: string, by: string) => `${value} ${by}, wartet auf den Knoten`,
    replaced: (value: string, by: string) => `für diesen Lauf; ${value} ${by}`,
    refused: (value: string, by: string, why: string) => `${value} ${by}; der Knoten hat abgelehnt: ${why}`,
    keep: 'Für nächste Läufe behalten',
    keepTip: 'Der DAC setzt es bei jedem Start des Knotens wieder',
    keepAll: 'Für nächste Läufe behalten',
    reset: 'Zurücksetzen',
    resetTip: (program: string) =>
      `Zurück zu dem, was das Programm festgelegt hat (${program}), und nichts behalten`,
    resetAllTip: 'Zurück zu dem, was die Programme festgelegt haben, und nichts behalten',
    labels: 'Etiketten\u2026',
    labelList: (labels: string) => `Etiketten: ${labels}`,
    labelsTitle: 'Etiketten',
    labelsHint:
      'Freie Paare wie site=graz. Sie stehen auf Karten, Filter finden sie, und sie gruppieren Flotten. Eine Instanz hat auch die ihres Knotens.',
    ofInstance: (instance: string) => `Der Instanz ${instance}`,
    ofNode: (node: string) => `Des Knotens ${node}`,
    noLabels: 'Keine Etiketten',
    pair: 'Schlüssel=Wert',
    pairWrong: 'Geben Sie Schlüssel und Wert ein, zum Beispiel site=graz.',
    add: 'Hinzufügen',
    remove: (label: string) => `${label} entfernen`,
  },
  pending: (what: string) => `${what}\u2026`,
  done: (what: string) => `${what}: fertig`,
  failed: (what: string, why: string) => `${what}: ${why}`,
};

/** Deutsch. */
export const de: Translation = {
  ...dePanels,
  subtitle: 'Instrumentierung live',

  dialog: { close: 'Schließen (Escape)' },

  toolbar: {
    title: 'Seite',
    add: 'Panel hinzufügen (a)',
    alarms: (count) => (count === 0 ? 'Alarme (g)' : `Alarme (g): ${count} nicht quittiert`),
    ledger: 'Bilanz: empfangene und fehlende Messwerte, mit Ursachen (b)',
    testRuns: 'Testläufe (u)',
    control: 'Befehle für mehrere Instanzen (r)',
    note: 'Notiz zu diesem Zeitpunkt schreiben (n)',
    picture: 'Aktives Panel als Bild speichern (p)',
    csv: 'Inhalt des aktiven Panels als CSV speichern (c)',
    samples: 'Messwerte der gezeigten Zeit speichern (w)',
    layout: 'Dashboards (o)',
    theme: { dark: 'Helle Farben (t)', light: 'Dunkle Farben (t)' },
    help: 'Tasten (?)',
  },

  keys: {
    title: 'Tasten und Zeiger',
    names: { ' ': 'Leertaste', ArrowLeft: '\u2190', ArrowRight: '\u2192', 'Ctrl+K': 'Strg+K' },
    pause: 'Anhalten oder fortsetzen',
    live: 'Zurück zu jetzt',
    earlier: 'Früher',
    later: 'Später',
    moment: 'Zu einem Zeitpunkt gehen',
    zoomIn: 'Weniger Zeit zeigen',
    zoomOut: 'Mehr Zeit zeigen',
    filter: 'Instanz suchen',
    add: 'Panel hinzufügen',
    expression: 'Ausdruck zum Diagramm hinzufügen',
    nextPanel: 'Nächstes Panel',
    previousPanel: 'Voriges Panel',
    panelHelp: 'Hilfe zum Panel',
    maximize: 'Panel maximieren oder wiederherstellen',
    close: 'Panel schließen',
    note: 'Notiz zu diesem Zeitpunkt schreiben',
    alarms: 'Alarme',
    ledger: 'Bilanz',
    testRuns: 'Testläufe',
    picture: 'Panel als Bild speichern',
    csv: 'Panel als CSV speichern',
    samples: 'Messwerte der gezeigten Zeit speichern',
    settings: 'Einstellungen des Panels',
    play: 'Vergangenheit abspielen oder anhalten',
    stepBack: 'Ein Schritt zurück',
    stepOn: 'Ein Schritt weiter',
    slower: 'Langsamer abspielen',
    faster: 'Schneller abspielen',
    dacs: 'DACs',
    control: 'Befehle für mehrere Instanzen',
    share: 'Link zu dieser Ansicht kopieren',
    layout: 'Dashboards',
    undo: 'Letzte Änderung des Layouts zurücknehmen',
    theme: 'Dunkle oder helle Farben',
    help: 'Diese Liste zeigen',
    pointer: [
      'Ziehen Sie über ein Diagramm, um diese Zeit zu vergrößern. Strg und Mausrad vergrößert, Umschalt und Mausrad geht durch die Zeit.',
      'Klicken Sie auf einen Namen der Legende, um seine Linie zu zeigen oder zu verbergen. Alt-Klick zeigt nur diese Linie. Rechtsklick kopiert den Wert.',
      'Ziehen Sie einen Reiter, um sein Panel zu verschieben. Ziehen Sie die Linie zwischen zwei Panels, um ihre Größe zu ändern.',
    ],
  },

  layouts: {
    title: 'Dashboards',
    copyLink: 'Link zu diesem Layout kopieren',
    exportFile: 'Als Datei speichern',
    importFile: 'Datei öffnen',
    reset: 'Layout zurücksetzen',
    inDac: 'Für alle Benutzer im DAC gespeichert',
    kept: 'Ein Neustart des DAC löscht sie: er hat kein Archiv und kein doors.layouts_dir in oasis.toml.',
    name: 'Name des Dashboards',
    save: 'Speichern',
    saveTip: 'Dieses Dashboard für alle Benutzer speichern',
    none: 'Keine Dashboards.',
    bar: 'Dashboard',
    changed: 'nicht gespeichert',
    undo: 'Rückgängig',
    leave: 'Dieses Dashboard verlassen',
    node: 'Knoten',
    unknownNode: (node) => `${node} (unbekannt)`,
    forAny: 'Knoten',
    forThese: 'Für die gezeigten Knoten',
    forAnyLike: (node) => `Für jeden Knoten wie ${node}`,
    history: 'Verlauf',
    revision: (revision) => `Version ${revision}`,
    look: 'Ansehen',
    lookTip: (revision) => `Version ${revision} zeigen, ohne sie zu speichern`,
    restore: 'Wiederherstellen',
    restoreTip: (revision) => `Version ${revision} als neueste speichern`,
    someone: 'nicht angemeldet',
    file: 'als Datei geändert',
    conflict: (name) => `${name} wurde nicht gespeichert`,
    savedBy: (revision, by, time) =>
      `Der DAC hat inzwischen Version ${revision} (${by}, ${time}). Speichern Sie Ihres darüber, bleibt sie im Verlauf; öffnen Sie sie, sind Ihre Änderungen verloren.`,
    replace: 'Meines darüber speichern',
    openTheirs: 'Das andere öffnen',
    missing: (name) => `Es gibt kein Dashboard ${name}, das gezeigt werden kann`,
    meant: 'Meinten Sie',
    choose: 'Dashboards dieses DAC:',
    own: 'Zur Seite ohne Dashboard',
    delete: 'Löschen',
    deleteTip: (name) => `${name} löschen`,
    notALayout: (file) => `${file} ist kein Layout von OASIS.`,
  },

  notice: {
    link: 'Link zu dieser Ansicht',
    noDock: 'Panels stehen hier untereinander: Keines ist das aktive.',
    nothing: 'Kein sichtbares Panel kann so gespeichert werden.',
    copied: (what) => `Kopiert: ${what}`,
    notCopied: 'Der Browser erlaubt dieser Seite nicht, zu kopieren.',
  },

  connection: {
    connecting: 'Verbindet',
    connected: 'Verbunden',
    reconnecting: 'Verbindet neu',
    door: 'Tür',
    doors: {
      websocket: 'WebSocket oasis.v1',
      events: 'Server-sent events',
      stream: 'Streaming',
      wait: 'Long poll',
      poll: 'Poll',
    },
    chooseDoor: 'Verbinden über',
    bestDoor: 'Die beste Tür, die aufgeht',
    clock: 'Uhrenversatz',
    clockTip: 'Uhr des DAC minus Uhr des Browsers, aus dem jüngsten Austausch mit der kürzesten Laufzeit',
    roundTrip: 'Laufzeit',
    server: 'DAC',
    unknown: '\u2013',
    archiveTrouble: (condition) =>
      `Das Archiv speichert nichts: ${stoerungen.get(condition) ?? condition}. Messwerte kommen weiter an.`,
    archiveWarning: (code, more) => {
      const text = warnungen.get(code) ?? 'Das Archiv hat eine Warnung';
      return more > 0 ? `${text} (und ${more} weitere)` : text;
    },
    healthProblem: (reason, more) => (more > 0 ? `${reason} (und ${more} weitere)` : reason),
  },

  banner: {
    lost: (ago) => `Verbindung seit ${ago} unterbrochen.`,
    never: 'Noch keine Verbindung.',
    promise: 'Die Werte sind die zuletzt empfangenen. Die Seite verbindet sich von selbst neu.',
    waiting: 'Die Seite verbindet sich von selbst neu.',
  },

  api: {
    late: 'Der DAC hat nicht rechtzeitig geantwortet.',
    unreachable: 'Der DAC ist nicht erreichbar.',
  },

  lossReason: {
    first: 'Der DAC hat noch nicht geantwortet.',
    unreachable: 'Der DAC ist nicht erreichbar.',
    closed: 'Die Verbindung ist abgerissen.',
    silent: 'Der DAC antwortet nicht mehr.',
    shutdown: 'Der DAC wurde beendet.',
    protocol: 'Der DAC hat die Verbindung geschlossen.',
    door: 'Eine andere Tür wurde gewählt.',
  },

  tree: {
    title: 'Instanzen',
    filter: 'Name, Typ, Metrik oder Etikett',
    filterShort: 'Filtern',
    fleet: 'Flotte',
    fleetTip: (nodes: number) =>
      `Alle ${nodes} Knoten auf einen Blick: Zustand, Alter, Verlust, Alarme, Messwerte`,
    watched: (watched, all) => `${watched} von ${all} beobachtet`,
    nothing: 'Noch hat sich kein Knoten angemeldet.',
    nothingHint: 'Starten Sie einen Knoten auf einem Rechner, der diesen DAC erreicht:',
    nothingCommand: 'oasis node --dac HOST:PORT',
    noMatch: 'Keine Instanz passt zum Filter.',
    connecting: 'Warten auf den DAC\u2026',
    show: 'Instanzen zeigen',
    hide: 'Instanzen verbergen',
    hertz: (hertz) => `${hertz} Hz`,
    event: 'Gemeldet',
    unknownRate: 'Rate unbekannt',
    watch: (instance) => `${instance} beobachten`,
    unwatch: (instance) => `${instance} nicht mehr beobachten`,
    noInstances: 'Keine Instanzen',
    heard: (ago) => `Zuletzt gesehen vor ${ago}`,
    unknown: 'Aus dem Archiv',
    path: ([home, ...relays]) =>
      relays.length === 0 ? `bei ${home}` : `bei ${home}, über ${relays.join(', ')}`,
    hop: (dac, measured) =>
      measured === undefined
        ? `${dac}: Uhr noch nicht gemessen`
        : `${dac}: Uhr ${measured[0] < 0 ? '\u2212' : '+'}${Math.abs(measured[0]).toFixed(2)} ms, Laufzeit ${measured[1].toFixed(2)} ms`,
    online: 'Online',
    gone: (nodes) =>
      nodes === 1
        ? '1 Knoten seit über einer Stunde offline'
        : `${nodes} Knoten seit über einer Stunde offline`,
    goneTip: 'Knoten, die seit mehr als einer Stunde offline sind; das Archiv behält ihre Geschichte',
    slowed: (hertz, wanted) => `${hertz} von ${wanted} Hz`,
    slowedTip: 'Der Knoten hat die Rate gesenkt, um seinen Aufwand in Grenzen zu halten.',
    overhead: (percent) => `${percent} Aufwand`,
    overheadTip: (callbacks, budget) =>
      `Rechenzeit der Threads des Knotens, als Anteil eines Kerns; Aufrufe von Sonden brauchten ${callbacks}.` +
      (budget === undefined ? '' : ` Erlaubt sind ${budget}.`),
  },

  main: {
    label: 'Beobachtete Instanzen',
    emptyTitle: 'Keine Instanz wird beobachtet',
    emptyText: 'Wählen Sie eine Instanz in der Liste, um ihre Werte hier zu sehen.',
    loadingTitle: 'Verbindung zum DAC',
    noNodesTitle: 'Warten auf einen Knoten',
    noNodesText: 'Der DAC läuft, aber noch hat sich kein Knoten angemeldet.',
  },

  card: {
    on: (node) => `auf ${node}`,
    unwatch: 'Nicht mehr beobachten',
    unwatchTip: (instance) => `Alles schließen, was ${instance} zeigt`,
    state: {
      lost: 'Keine Verbindung',
      waiting: 'Abonniert',
      absent: 'Nicht angemeldet',
      failed: 'Fehler',
      offline: 'Offline',
      disabled: 'Ausgeschaltet',
      empty: 'Ohne Werte',
      armed: 'Bereit',
      stopped: 'Gestoppt',
      replay: 'Wiedergabe',
      lagging: 'Holt auf',
      live: 'Live',
    },
    nowState: (state) => `Jetzt: ${state}`,
    stateTip: {
      lost: 'Die Seite hat keine Verbindung zum DAC.',
      waiting: 'Die Seite abonniert diese Instanz gerade.',
      absent:
        'Kein verbundener Knoten hat diese Instanz angemeldet. Ihre Werte kommen wieder, sobald ein Knoten sie anmeldet.',
      failed: 'Der DAC hat das Abonnement abgelehnt, oder er sendet Daten, die diese Seite nicht lesen kann.',
      offline: 'Der Knoten ist nicht mit dem DAC verbunden.',
      disabled: 'Jemand hat sie ausgeschaltet: sie misst nicht.',
      empty: 'Noch kam kein Messwert.',
      armed: 'Der Flugschreiber wartet auf einen Auslöser. Was er zurückhält, gilt nicht als Verlust.',
      stopped: 'Der Knoten ist verbunden, aber seit 2,5 Abständen und einer Sekunde kam kein Messwert.',
      replay: 'Eine Aufzeichnung wird wiedergegeben.',
      lagging:
        'Messwerte kommen lange nach der Messung an: Vergangenes vom DAC, oder ein Rückstand des Knotens.',
      live: 'Messwerte kommen, oder es ist keiner fällig.',
    },
    probeState: (state) => `Zustand der Sonde ${state}`,
    worth: {
      warn: (because) => `Warnung: ${because}`,
      alarm: (because) => `Alarm: ${because}`,
    },
    worthSign: '▲',
    rate: 'Rate',
    rateUnit: '/s',
    rateTip: 'Messwerte je Sekunde, über die letzten Sekunden gemessen',
    configured: (hertz) => `von ${hertz} Hz eingestellt`,
    configuredEvent: 'Vom Programm',
    configuredUnknown: 'Rate unbekannt',
    age: 'Alter',
    ageTip: 'Zeit seit der Messung des neuesten Messwerts, mit berichtigten Uhren',
    notOfThePast: 'Nur für jetzt bekannt: gehen Sie zurück zu jetzt',
    ageThenTip: 'Zeit vom gezeigten Messwert bis zum Ende der gezeigten Zeit, mit berichtigten Uhren',
    sequenceThenTip: 'Nummer des gezeigten Messwerts',
    taken: (time) => `gemessen ${time}`,
    sequence: 'Nummer',
    sequenceTip: 'Nummer des neuesten Messwerts',
    received: (count) => `${count} empfangen`,
    loss: 'Fehlend',
    missingShort: 'fehlend',
    keptBack: (count) => `${count} zurückgehalten`,
    keptBackTip:
      'Der Flugschreiber hat diese Messwerte absichtlich zurückgehalten; sie gelten nicht als fehlend',
    notHere: (count) => `${count} nicht hier`,
    notHereTip: (count, since) =>
      `Außerdem hat diese Seite seit ${since} ${count} Messwerte nicht empfangen, die der DAC hat oder hatte: siehe die Bilanz (b)`,
    hops: (node, dac, page) =>
      `Neuester Messwert: ${node} im Knoten, ${dac} zum DAC, ${page} zu dieser Seite`,
    lossTip: (since) =>
      `Messwerte, die gemessen wurden und den DAC nicht erreicht haben, seit er gestartet ist${since === '' ? '' : ` (${since})`}. Bilanz, Flotte und API haben dieselbe Zahl.`,
    lossSince: (since) => `seit ${since}`,
    lossUnknown: 'Noch nicht bekannt: der DAC hat es noch nicht gemeldet',
    unexplained: (count) => `${count} ungeklärt`,
    historySpan: '60 s',
    history: 'Empfangene Messwerte in jeder der letzten 60 Sekunden',
    historyBar: (time, count, missing) =>
      `${time}: ${count} empfangen${missing === '0' ? '' : `, ${missing} fehlend`}`,
    noMetrics: 'Diese Sonde hat keine Metriken: ein Messwert sagt nur, dass sie lebt.',
    noSample: 'Noch kein Messwert.',
    metrics: 'Metriken und Lücken',
    metric: 'Metrik',
    value: 'Wert',
    unit: 'Einh.',
    least: 'Min',
    greatest: 'Max',
    extentTip: 'In der gezeigten Zeit',
    copyTip: 'Rechtsklick kopiert den Wert',
    perSecond: 'Pro Sekunde',
    aboutColumn: 'Skaliert',
    rateCell: (rate) => `${rate} /s`,
    about: (scaled) => `\u2248 ${scaled}`,
    more: (count) => `und ${count} weitere`,
    none: 'keine',
  },

  past: {
    tip: 'Messwerte, die älter sind als die im Speicher dieser Seite, kommen aus dem Archiv des DAC',
    state: (state, level) => {
      if (state === 'failed') return 'Das Archiv hat nicht geantwortet; neuer Versuch';
      if (state === 'reading') return 'Das Archiv wird gelesen\u2026';
      return level === undefined ? '' : `Aus dem Archiv, aus ${stufen.get(level) ?? level}`;
    },
    thinned: (step) => `ein Messwert je ${step}`,
    mixed: (step) => `mehrere Zustände innerhalb von ${step} als einer gezeigt`,
    newest: (count) => `nur die neuesten ${count}`,
    since: (time) => `Nur aus dem Speicher dieser Seite, seit ${time}`,
    until: (time) => `Bis ${time}`,
    now: 'Zeigt jetzt, nicht die Zeit der Diagramme',
    nowShort: 'Jetzt:',
    at: (time) => `Um ${time}`,
    moment: (state, before, level) => {
      if (state === 'failed') return 'der DAC hat nicht geantwortet; neuer Versuch';
      if (state === 'reading') return 'wird gelesen\u2026';
      if (before === undefined) return 'bis dahin ist kein Messwert gespeichert';
      const from = level === undefined ? '' : `, aus ${stufen.get(level) ?? level}`;
      return `gemessen ${before} davor${from}`;
    },
  },

  offline: {
    newest: (instance, time, ago) =>
      `${instance} ist offline. Der neueste Messwert ist von ${time}, vor ${ago}.`,
    show: 'Neuesten Messwert zeigen',
    nothing: (instance) => `${instance} ist offline und hat keine gespeicherten Messwerte.`,
  },

  interruption: {
    lasting: (cause, since) => `${unterbrechungen.get(cause) ?? cause}, seit ${since}`,
  },

  moment: {
    title: 'Zu einem Zeitpunkt gehen',
    field: (zone) => `Datum und Uhrzeit (${zone})`,
    go: 'Los',
    future: 'Dieser Zeitpunkt liegt in der Zukunft: Es gibt noch keine Messwerte.',
  },

  time: {
    title: 'Zeit',
    moment: 'Zu einem Zeitpunkt gehen (j)',
    pause: 'Anhalten',
    resume: 'Fortsetzen',
    pauseTip: 'Live: anhalten (Leertaste)',
    resumeTip: 'Angehalten: mit den neuesten Messwerten fortsetzen (Leertaste)',
    span: 'Länge der gezeigten Zeit',
    zoneTip: (shown, other) => `Alle Zeiten auf dieser Seite sind ${shown}. Klick: ${other}`,
    earlier: 'Früher (Pfeil links)',
    later: 'Später (Pfeil rechts)',
    play: 'Ab hier abspielen (k)',
    stopPlaying: 'Anhalten (k)',
    speed: 'Geschwindigkeit (< und >)',
    times: (speed: number) => `${speed}\u00d7`,
    slider: 'Ende der gezeigten Zeit, zwischen dem ältesten verfügbaren Messwert und jetzt',
    compare: 'Eine frühere Zeit überlagern',
    compareNone: 'Nur diese Zeit',
    compareWith: (ago) => `Überlagert: ${ago} früher`,
  },

  notes: {
    title: 'Notizen',
    text: 'Was ist hier geschehen?',
    whole: 'Die ganze Zeit, die die Diagramme zeigen',
    span: (from, to) => `${from} \u2013 ${to}`,
    add: 'Hinzufügen',
    remove: 'Entfernen',
    more: (count, until) =>
      `Nur die ersten ${count} Notizen dieser Zeit werden gezeigt, bis ${until}. Spätere erscheinen, wenn Sie weniger Zeit zeigen.`,
    moreShort: (until) => `Notizen nur bis ${until}`,
    several: (count) => `${count} Notizen`,
    full: (most) => `Ein Layout behält höchstens ${most} Notizen: entfernen Sie zuerst eine.`,
    forAll: 'Der DAC speichert Notizen; alle Benutzer sehen sie.',
    forLayout: 'Notizen gehören zu diesem Layout, weil der DAC kein Archiv hat.',
  },

  control: {
    title: 'Befehle',
    nothing: 'Keine Instanz wird beobachtet: Wählen Sie zuerst eine in der Liste.',
    rate: 'Rate in Hertz',
    set: (count) => `Für ${count} setzen`,
    names: {
      enable: 'Einschalten',
      disable: 'Ausschalten',
      'sample-now': 'Jetzt messen',
      trigger: 'Auslösen',
    },
    sureToDisable: (count) => `${count} Instanzen jetzt ausschalten`,
    counted: (what, count) => `${what} (${count})`,
    journal: 'Bisherige Befehle',
    journalTip: 'Seit dem Start des DAC. Das Audit-Log bewahrt Befehle länger auf.',
    journalEmpty: 'Seit dem Start des DAC hat niemand einen Befehl gegeben. Ältere stehen im Audit-Log.',
    withDemand: 'Mit Raten, die der Nachfrage folgen',
    entry: (command, numbers, instance, node) =>
      `${command}${numbers === '' ? '' : ` ${numbers} Hz`}: ${instance} auf ${node}`,
  },

  commands: {
    ...befehle,
    sentence: (view) => {
      const what = befehl(view);
      if (view.status === 'pending') return befehle.pending(what);
      return view.status === 'done' ? befehle.done(what) : befehle.failed(what, grund(view));
    },
    what: (view) => befehl(view),
    why: (view) => grund(view),
  },

  palette: {
    title: 'Befehlspalette',
    open: 'Alles finden (Strg+K)',
    field: 'Instanzen, Metriken, Panels, Dashboards, Befehle und Hilfe finden',
    list: 'Treffer',
    kinds: {
      instance: 'Instanz',
      metric: 'Metrik',
      panel: 'Panel',
      dashboard: 'Dashboard',
      command: 'Seite',
      control: 'DAC',
      help: 'Hilfe',
    },
    recent: 'Zuletzt',
    count: { one: '{n} Treffer', other: '{n} Treffer' },
    first: 'Nur die ersten {n} sind gelistet. Tippen Sie mehr.',
    none: 'Nichts passt.',
    searching: 'Suche läuft\u2026',
    back: 'Zurück',
    hints: {
      choose: 'wählen',
      run: 'ausführen',
      actions: 'mehr Aktionen',
      back: 'zurück',
      close: 'schließen',
    },
    of: (metric, instance) => `${instance}.${metric}`,
    on: (node) => `auf ${node}`,
    watched: 'beobachtet',
    offline: 'offline',
    actions: (instance) => `Aktionen von ${instance}`,
    watch: (instance) => `${instance} beobachten`,
    labels: (instance) => `Etiketten von ${instance}`,
    reset: (instance) => `${instance} zurücksetzen`,
    unwatch: (instance) => `${instance} nicht mehr beobachten`,
    goTo: (instance) => `Zu ${instance} gehen`,
    rate: (instance) => `Rate von ${instance} setzen`,
    rateField: 'Rate in Hertz, 0.01 bis 1000',
    rateOf: (hertz, instance) => `${instance} mit ${hertz} Hz messen`,
    enable: (instance) => `${instance} einschalten`,
    disable: (instance) => `${instance} ausschalten`,
    sureToDisable: (instance, node) => `${instance} auf ${node} ausschalten?`,
    sampleNow: (instance) => `${instance} jetzt messen`,
    trigger: (instance) => `Flugschreiber von ${instance} auslösen`,
    follow: (instance) => `Rate von ${instance} behalten`,
    forget: (instance) => `${instance} mit den gespeicherten Messwerten vergessen`,
    sureToForget: (instance, node) => `${instance} auf ${node} mit allen gespeicherten Messwerten vergessen?`,
    forgetNode: (node) => `Knoten ${node} mit den gespeicherten Messwerten vergessen`,
    sureToForgetNode: (node) => `Knoten ${node} mit allen gespeicherten Messwerten vergessen?`,
    sure: 'Ja',
    cancel: 'Abbrechen',
    done: (what) => `${what}: fertig`,
    failed: (what, why) => `${what}: ${why}`,
    openPanel: 'offenes Panel',
    addPanel: (kind) => `Panel hinzufügen: ${kind}`,
    panelHelp: (kind) => `Hilfe: ${kind}`,
    layout: (name) => `Dashboard ${name} öffnen`,
    layoutWords: 'layout ansicht gespeichert',
    saveLayout: 'Als Dashboard speichern',
    layoutName: 'Name des Dashboards',
    saveAs: (name) => `Als ${name} speichern`,
    span: (span) => `${span} zeigen`,
    spanDetail: 'Länge der gezeigten Zeit',
    resetLayout: 'Layout zurücksetzen',
    resetDetail: 'alle Panels schließen und die üblichen öffnen',
    sureToReset: 'Alle Panels schließen und die üblichen öffnen?',
    exportLayout: 'Layout als Datei speichern',
    startHandler: (name) => `Handler ${name} starten`,
    stopHandler: (name) => `Handler ${name} anhalten`,
    sureToStop: (name) => `Handler ${name} anhalten?`,
    flush: 'Alles Empfangene im Archiv speichern',
    confirmClock: 'Der Uhr nach einem Sprung trauen',
    confirmClockDetail: 'das Archiv löscht wieder nach Alter',
    sureToConfirmClock: 'Stimmt die Uhrzeit dieses Rechners? Das Archiv löscht dann wieder nach Alter.',
    shards: 'Zahl der Shards setzen',
    shardsField: 'Zahl der Threads, die an WebSockets schreiben; 0 für einen je Kern, oder auto',
    shardsOf: (shards) => `${shards} Shards verwenden`,
    startTestRun: 'Testlauf beginnen',
    testRunName: 'Name des Testlaufs',
    startNamed: (name) => `${name} beginnen`,
    stopTestRun: (name) => `Testlauf ${name} beenden`,
    sureToStopTestRun: (name) => `Testlauf ${name} beenden?`,
    accounts: 'Konten',
    auditLog: 'Audit-Log',
    password: 'Kennwort ändern',
    signOut: 'Abmelden',
    preferences: 'Sprache und Zeiten',
    sureToSignOut: 'Von dieser Seite abmelden?',
  },

  help: {
    panel: (kind) => `Hilfe: ${kind}`,
    open: (title) => `Hilfe zu ${title} (h)`,
    opensFor: (what) => `Öffnet sich von selbst für: ${what}.`,
    loading: 'Wird geladen\u2026',
    missing: 'Dazu gibt es noch keine Hilfe.',
    failed: 'Der DAC hat die Hilfe nicht gesendet.',
    all: 'Alle Themen',
  },

  hints: {
    title: 'Hinweis',
    texts: [
      'Strg+K findet Instanzen, Metriken, Panels und Befehle.',
      'Ziehen Sie über ein Diagramm, um diese Zeit zu vergrößern. Die Leertaste hält alle Panels an.',
      'Das Fragezeichen eines Panels sagt, was es zeigt und wie man es benutzt.',
    ],
    next: 'Nächster Hinweis',
    close: 'Keine Hinweise mehr',
    again: 'Hinweise wieder zeigen',
  },

  preferences: {
    title: 'Sprache und Zeiten',
    language: 'Sprache',
    languages: { en: 'English', de: 'Deutsch' },
    languageHint: 'Die Seite wird neu geladen.',
    zone: 'Zeiten',
    zones: { local: (zone) => `Ortszeit (${zone})`, utc: 'UTC' },
    zoneHint: 'Ein Link zu einem Layout zeigt die Zeiten, wie Sie sie sehen.',
    partly: 'Die Hilfe und Meldungen des DAC sind auf Englisch.',
  },

  alarms: {
    tab: (count) => `(${count}) OASIS`,
    sentence: (label, because) => `${label} ist ${because}`,
    raisedSentence: (rule, instance) => `${rule}: ${instance}`,
    noAlarms:
      'Setzen Sie enabled = true im Abschnitt [rules] von oasis.toml. Ein Relay führt nie Alarme: Öffnen Sie die Seite seines DAC.',
    severities: { low: 'Gering', medium: 'Mittel', high: 'Hoch', critical: 'Kritisch' },
    bell: (parts) => `Alarme (g): ${parts} nicht quittiert`,
  },

  accounts: {
    title: 'Konten',
    open: 'Konten: Benutzer, Tokens und Rollen',
    tabs: { users: 'Benutzer', tokens: 'Tokens', roles: 'Rollen' },
    name: 'Name',
    roles: 'Rollen',
    add: 'Hinzufügen',
    save: 'Speichern',
    remove: 'Entfernen',
    sure: (what) => `${what} jetzt entfernen`,
    cancel: 'Abbrechen',
    user: 'Benutzer',
    newUser: 'Neuer Benutzer',
    password: 'Kennwort',
    passwordHint: 'Mindestens 12 Zeichen. Leer: meldet sich beim Identitätsanbieter an.',
    setPassword: 'Kennwort setzen',
    newPassword: (name) => `Neues Kennwort von ${name}`,
    sessions: (count) => (count === 1 ? '1 Sitzung' : `${count} Sitzungen`),
    endSessions: 'Sitzungen beenden',
    notSignedIn: { local: 'nicht angemeldet, von diesem Host', stranger: 'nicht angemeldet, von anderswo' },
    byPassword: 'Kennwort',
    byProvider: 'Identitätsanbieter',
    token: 'Token',
    newToken: 'Neues Token',
    owner: 'Besitzer',
    noOwner: 'Niemand',
    embed: 'Für Seiten, die andere einbetten: liest nur',
    scope: 'Begrenzt auf (Regeln, eine je Zeile; leer: keine Grenze)',
    expires: 'Läuft ab',
    days: (days) => (days === 0 ? 'Nie' : days === 365 ? 'In einem Jahr' : `In ${days} Tagen`),
    create: 'Anlegen',
    shownOnce: 'Kopieren Sie dieses Token jetzt. Es kann nicht noch einmal gezeigt werden.',
    copy: 'Kopieren',
    done: 'Fertig',
    revoke: 'Widerrufen',
    never: 'nie',
    neverUsed: 'nie benutzt',
    lastUse: (time) => `benutzt ${time}`,
    expiry: (time) => `läuft ab ${time}`,
    noTokens: 'Keine Tokens.',
    role: 'Rolle',
    newRole: 'Neue Rolle',
    edit: 'Bearbeiten',
    show: 'Zeigen',
    builtIn: 'eingebaut',
    rules: 'Regeln',
    verb: 'Erlaubt',
    group: {
      read: 'alles darunter lesen: live und Vergangenheit',
      command: 'alle Befehle',
      '*': 'alles',
    },
    node: 'Muster der Knoten',
    instance: 'Muster der Instanzen',
    addRule: 'Regel hinzufügen',
    removeRule: 'Regel entfernen',
    preview: (sees, total) => `Sieht ${sees} von ${total} Instanzen`,
    previewVerbs: (verbs) => `Darf: ${verbs}`,
    nothing: 'nichts',
    own: 'Ihr Kennwort ändern',
    present: 'Jetziges Kennwort',
    fresh: 'Neues Kennwort',
    again: 'Neues Kennwort noch einmal',
    different: 'Die beiden neuen Kennwörter sind verschieden.',
    change: 'Ändern',
    signsOut: 'Danach melden Sie sich überall neu an.',
  },

  session: {
    title: 'Anmelden',
    why: 'Dieser DAC zeigt seine Messwerte nur Personen mit einem Konto.',
    noRights: (name) =>
      `${name} darf hier nichts lesen. Bitten Sie einen Administrator um eine Rolle, oder melden Sie sich als jemand anderes an.`,
    byLink: 'Auf dem Rechner des DAC gibt oasis sign-in-link einen Link aus, der anmeldet.',
    name: 'Benutzername',
    password: 'Kennwort',
    failed: (code) => anmeldung[code] ?? 'Die Anmeldung ist fehlgeschlagen. Versuchen Sie es noch einmal.',
    signIn: 'Anmelden',
    signOut: 'Abmelden',
    signedIn: (name) => `${name} abmelden`,
  },
};

type View = Parameters<NonNullable<NonNullable<Translation['commands']>['what']>>[0];

function befehl({ request }: View): string {
  const name = befehlsname(request);
  return request.keep ? `${name} und behalten` : name;
}

function befehlsname(request: View['request']): string {
  switch (request.command) {
    case 'hertz':
      return `${request.hertz} Hz setzen`;
    case 'deadband':
      return `Totband von ${request.metric}`;
    case 'demand':
      return 'Dem Bedarf folgen';
    case 'demand-off':
      return befehle.demandOff;
    case 'enable':
      return befehle.enable;
    case 'disable':
      return befehle.disable;
    case 'sample-now':
      return befehle.sampleNow;
    case 'trigger':
      return befehle.trigger;
    case 'reset':
      return befehle.kept.reset;
  }
}

function grund(view: View): string {
  const text = gruende[view.code ?? ''] ?? view.code ?? 'fehlgeschlagen';
  return view.message ? `${text} (${view.message})` : text;
}
