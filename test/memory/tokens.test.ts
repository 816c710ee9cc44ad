import { expect, test } from 'vitest';
import { normalise } from '../../src/memory/normalise.js';
import { pairsOf, partsOf } from '../../src/memory/tokens.js';

test('full width, case, accents and traditional characters make no difference', () => {
  expect(normalise('ＳＡＰ－１２９３１６４')).toBe('sap-1293164');
  expect(normalise('TÜV Café Ångström')).toBe('tuv cafe angstrom');
  expect(normalise('臺灣圖書館的電腦維修')).toBe('台湾图书馆的电脑维修');
});

test('accents that are letters of their own stay: Japanese voicing, Korean syllables', () => {
  expect(normalise('ガが한국어')).toBe('ガが한국어');
});

test.each([
  ['SAP-1293164', ['sap', '1293164', 'sap1293164']],
  ['SAP1293164', ['sap1293164', 'sap', '1293164']],
  ['waitForJointState', ['waitforjointstate', 'wait', 'for', 'joint', 'state']],
  ['motion_planner.cpp', ['motion', 'planner', 'cpp', 'motionplannercpp']],
  ['C++', ['c++', 'c']],
  ["don't", ['don', 't', 'dont']],
  ['hello, world', ['hello', 'world']],
])('%s is found whole and in pieces', (text, words) => {
  expect(partsOf(text).words).toEqual(words);
});

test('Latin and digits inside Chinese are words of their own', () => {
  expect(partsOf('把iPhone15升级到iOS 20吧')).toEqual({
    words: ['iphone15', 'iphone', '15', 'phone', 'ios', 'os', '20'],
    runs: ['把', '升级到', '吧'],
  });
});

test('every character of a run begins a pair', () => {
  expect(pairsOf('市长𠮷')).toEqual(['市长', '长𠮷', '𠮷']);
});

test('ten thousand characters without a space are cut in no time', () => {
  const startedAt = performance.now();
  partsOf('a'.repeat(10_000));
  partsOf('-'.repeat(10_000));
  partsOf('a-'.repeat(5_000));
  partsOf('武汉市长'.repeat(2_500));
  expect(performance.now() - startedAt).toBeLessThan(500);
});
