/** Fails on an import that climbs, on `process.env` outside src/config, on `console` outside the command line. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { consoleUsers, environmentReaders, groundFloor, rooms } from './floors.mjs';

/** Every breach below `root` as `{ file, line, rule }`. */
export function checkFloors(root) {
  return ['src', 'channels'].flatMap((folder) => sourceFiles(root, folder)).flatMap((file) => checkFile(root, file));
}

function sourceFiles(root, folder) {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.(ts|tsx|mts|js|jsx|mjs)$/.test(entry.name))
    .map((entry) =>
      relative(root, join(entry.parentPath ?? entry.path, entry.name))
        .split(sep)
        .join('/'),
    )
    .sort();
}

function checkFile(root, file) {
  const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest);
  const breaches = [];
  const report = (node, rule) => {
    if (rule) breaches.push({ file, line: source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1, rule });
  };
  const visit = (node) => {
    const specifier = specifierOf(node);
    if (specifier) report(node, importRule(file, specifier));
    report(node, globalRule(file, node));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return breaches;
}

/** The module that an import, export, dynamic import or type import names. */
function specifierOf(node) {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier?.text;
  if (ts.isImportTypeNode(node)) return node.argument.literal?.text;
  const isDynamic = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;
  return isDynamic ? node.arguments[0]?.text : undefined;
}

function importRule(file, specifier) {
  if (!specifier.startsWith('.')) return undefined;
  const target = posix.join(posix.dirname(file), specifier).replace(/\.js$/, '.ts');
  const from = roomOf(file);
  const to = roomOf(target);
  if (from === undefined) return `${file} is in no room of scripts/floors.mjs: give it one`;
  if (to === undefined) return `${target} is in no room of scripts/floors.mjs`;
  if (from.name === to.name) return undefined;
  const { floor, only, not = [], also = [] } = from.rules;
  const isNamed = (list) => list.some((name) => target === name || to.name === name);
  const what = `${from.name} must not import ${to.name}`;
  if (isNamed(not)) return `${what}: it must not know it`;
  if (isNamed(also) || isNamed(groundFloor)) return undefined;
  if (only) return isNamed(only) ? undefined : `${what}: it may know ${[...groundFloor, ...only].join(', ')} only`;
  if (to.rules.floor > floor) return `${what}: that climbs from floor ${floor} to floor ${to.rules.floor}`;
  if (to.rules.floor === floor) return `${what}: rooms of one floor do not know each other`;
  return undefined;
}

const environmentRule = 'process.env is read in src/config only: take an Environment from there';

function globalRule(file, node) {
  if (ts.isVariableDeclaration(node) && ts.isObjectBindingPattern(node.name) && node.initializer?.text === 'process') {
    const takesEnvironment = node.name.elements.some(
      (element) => (element.propertyName ?? element.name).text === 'env',
    );
    return takesEnvironment && !isIn(file, environmentReaders) ? environmentRule : undefined;
  }
  if (!ts.isPropertyAccessExpression(node) && !ts.isElementAccessExpression(node)) {
    const importsProcess = ts.isImportDeclaration(node) && /^(node:)?process$/.test(node.moduleSpecifier.text);
    return importsProcess && !isIn(file, environmentReaders)
      ? 'use the global process, so that process.env is seen'
      : undefined;
  }
  const { expression } = node;
  if (!ts.isIdentifier(expression)) return undefined;
  const member = node.name?.text ?? node.argumentExpression?.text;
  if (expression.text === 'process' && member === 'env' && !isIn(file, environmentReaders)) {
    return environmentRule;
  }
  const isPage = roomOf(file)?.name === 'channels/websocket/page';
  if (expression.text === 'console' && !isPage && !isIn(file, consoleUsers)) {
    return 'no console outside the command line: take a Logger';
  }
  return undefined;
}

function isIn(file, folders) {
  return folders.some((folder) => file.startsWith(`${folder}/`));
}

/** The innermost room: a file of its own, a folder, a channel's folder, or what lies directly in channels/. */
function roomOf(path) {
  const names = [path];
  for (let folder = posix.dirname(path); folder !== '.'; folder = posix.dirname(folder)) names.push(folder);
  const exact = names.find((name) => Object.hasOwn(rooms, name) && name !== 'channels');
  if (exact) return { name: exact, rules: rooms[exact] };
  const [top, channel, rest] = path.split('/');
  if (top !== 'channels') return undefined;
  if (rest === undefined) return { name: 'channels', rules: rooms.channels };
  return { name: `channels/${channel}`, rules: rooms['channels/*'] };
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const breaches = checkFloors(process.argv[2] ?? dirname(dirname(fileURLToPath(import.meta.url))));
  for (const { file, line, rule } of breaches) console.error(`${file}:${line}: ${rule}`);
  if (breaches.length > 0) process.exitCode = 1;
  else console.error('floors: no import climbs');
}
