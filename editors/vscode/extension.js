// Starts `oasis pdl lsp` for PDL files and `oasis rules lsp` for files of rules, each with the first file that needs it, and stops them with the
// editor. The language servers do everything else.

const { workspace } = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

const clients = new Map();

/** Returns the client of a language. */
const MAKE = {
  pdl: () => {
    const settings = workspace.getConfiguration('pdl');
    const server = { command: settings.get('server'), args: ['pdl', 'lsp'] };
    return new LanguageClient('pdl', 'PDL', server, {
      documentSelector: [{ language: 'pdl' }],
      initializationOptions: { includePaths: settings.get('includePaths') },
      synchronize: { fileEvents: workspace.createFileSystemWatcher('**/*.pdl') },
    });
  },
  rules: () => {
    const settings = workspace.getConfiguration('rules');
    const dac = settings.get('dac');
    const args = ['rules', 'lsp', ...(dac === '' ? [] : ['--dac', dac]), ...settings.get('arguments')];
    const [folder] = workspace.workspaceFolders ?? [];
    const options = folder ? { cwd: folder.uri.fsPath } : {};
    return new LanguageClient('rules', 'OASIS rules', { command: settings.get('server'), args, options }, {
      documentSelector: [{ language: 'rules' }],
      synchronize: { fileEvents: workspace.createFileSystemWatcher('**/*.rules') },
    });
  },
};

const start = ({ languageId }) => {
  if (!Object.hasOwn(MAKE, languageId) || clients.has(languageId)) return;
  const client = MAKE[languageId]();
  clients.set(languageId, client);
  return client.start();
};

exports.activate = (context) => {
  context.subscriptions.push(workspace.onDidOpenTextDocument(start));
  return Promise.all(workspace.textDocuments.map(start));
};

exports.deactivate = () => Promise.all([...clients.values()].map((client) => client.stop()));
