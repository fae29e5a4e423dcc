// Starts `oasis pdl lsp` for PDL files and stops it with the editor. The language server does everything else.

const { workspace } = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;

exports.activate = () => {
  const settings = workspace.getConfiguration('pdl');
  const server = { command: settings.get('server'), args: ['pdl', 'lsp'] };
  client = new LanguageClient('pdl', 'PDL', server, {
    documentSelector: [{ language: 'pdl' }],
    initializationOptions: { includePaths: settings.get('includePaths') },
    synchronize: { fileEvents: workspace.createFileSystemWatcher('**/*.pdl') },
  });
  return client.start();
};

exports.deactivate = () => client?.stop();
