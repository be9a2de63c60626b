// People's names: cleaned, suggested, shortened to initials. Codes as people read them.

import { language } from "../strings.js";
import { safeStorage } from "/sdk/seat.js";

const longestName = 24;
const store = safeStorage("localStorage");

const suggestions = {
    en: [
        ["Quiet", "Merry", "Gentle", "Bright", "Curious", "Sunny", "Brave", "Swift", "Happy", "Clever", "Mellow", "Lucky"],
        ["Otter", "Heron", "Fox", "Badger", "Robin", "Lynx", "Whale", "Hedgehog", "Panda", "Finch", "Seal", "Owl"],
        " ",
    ],
    "zh-Hans": [
        ["安静的", "快乐的", "温柔的", "明亮的", "好奇的", "勇敢的", "聪明的", "幸运的"],
        ["水獭", "白鹭", "狐狸", "知更鸟", "熊猫", "海豹", "刺猬", "猫头鹰"],
        "",
    ],
};

/** A friendly name of two words. */
export function suggestName(random = Math.random, tag = language) {
    const [first, second, between] = suggestions[tag] ?? suggestions.en;
    const pick = (words) => words[Math.floor(random() * words.length)];
    return pick(first) + between + pick(second);
}

/** What people see as one character each: a family emoji is one. */
export function graphemes(text) {
    if (typeof Intl.Segmenter !== "function") return [...text];
    return [...new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text)].map(({ segment }) => segment);
}

/** A name without control and direction marks, at most 24 characters as people count them. */
export function cleanName(text) {
    const plain = text.normalize("NFC").replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "").replace(/\s+/gu, " ").trim();
    return graphemes(plain).slice(0, longestName).join("").trim();
}

/** One or two characters that stand for a name: of "Ana (2)", A and 2. */
export function initials(name) {
    const words = String(name ?? "").split(/\s+/u).map((word) => word.replace(/^\p{P}+/u, "")).filter(Boolean);
    if (words.length === 0) return "?";
    const letters = words.length > 1 ? [words[0], words.at(-1)] : [words[0]];
    return letters.map((word) => graphemes(word)[0].toUpperCase()).join("");
}

export const rememberedName = {
    read: () => store.read("activityhost.name"),
    write: (name) => store.write("activityhost.name", name),
};

const consonants = /[BCDFGHJKLMNPQRSTVWXZ]/i;

/** What of `text` can belong to a code, upper case, and whether something else was left out. */
export function codeLetters(text) {
    const typed = [...text].filter((letter) => /[\p{L}\p{N}]/u.test(letter));
    const letters = typed.filter((letter) => consonants.test(letter)).slice(0, 6).join("").toUpperCase();
    return { letters, hasOthers: typed.some((letter) => !consonants.test(letter)) };
}

/** BCDFGH as BCD-FGH; the token of a link as it is. */
export function shownCode(code) {
    return /^[A-Z]{6}$/.test(code) ? `${code.slice(0, 3)}-${code.slice(3)}` : code;
}

/** How long ago `time` was: a key of the string table and its count. */
export function ago(time, now = Date.now()) {
    const minutes = Math.floor((now - time) / 60_000);
    if (minutes < 1) return ["ago.now", {}];
    if (minutes < 60) return ["ago.minutes", { count: minutes }];
    if (minutes < 48 * 60) return ["ago.hours", { count: Math.max(1, Math.floor(minutes / 60)) }];
    return ["ago.days", { count: Math.floor(minutes / (24 * 60)) }];
}
