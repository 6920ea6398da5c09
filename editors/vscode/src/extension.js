// Starts `muster lsp` for Lua files. The server reports nothing about files that do not require muster.
const { commands, window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function start() {
  const program = workspace.getConfiguration("muster").get("program");
  const folder = workspace.workspaceFolders && workspace.workspaceFolders[0];
  client = new LanguageClient(
    "muster",
    "muster",
    { command: program, args: ["lsp"], options: folder ? { cwd: folder.uri.fsPath } : {} },
    {
      documentSelector: [{ scheme: "file", language: "lua" }],
      // Files that recipes read: evaluated again when they change on disk.
      synchronize: { fileEvents: workspace.createFileSystemWatcher("**/*.{lua,json,yaml,yml}") },
    },
  );
  try {
    await client.start();
  } catch (error) {
    window.showErrorMessage(`muster: cannot start ${program} lsp (${error.message}); set muster.program to its path`);
  }
}

exports.activate = async (context) => {
  context.subscriptions.push(
    commands.registerCommand("muster.restart", async () => {
      if (client) await client.dispose();
      await start();
    }),
    workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("muster.program")) commands.executeCommand("muster.restart");
    }),
  );
  await start();
};

exports.deactivate = () => client && client.stop();
