// What a browser keeps: the seat of each group (all tabs are the same member) and an id for each tab.

/** A code as it is kept and compared, upper case without spaces and dashes; the token of an invitation link stays as it is. */
export function groupKey(group) {
    const text = String(group ?? "").trim();
    const code = text.toUpperCase().replace(/[\s-]/g, "");
    return /^[A-Z]{6}$/.test(code) ? code : text;
}

/** A random id of `length` characters. Works where `crypto.randomUUID` doesn't exist: on plain http. */
export function randomId(length = 10) {
    const alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let id = "";
    while (id.length < length) {
        // 248 is the largest multiple of 62 in a byte: what is above would favour the first letters.
        for (const byte of crypto.getRandomValues(new Uint8Array(length))) if (byte < 248 && id.length < length) id += alphabet[byte % 62];
    }
    return id;
}

/** A storage that works even where the browser refuses its own: then it lasts as long as the page. */
export function safeStorage(name) {
    const memory = new Map();
    const real = () => {
        try {
            return globalThis[name] ?? null;
        } catch {
            return null;
        }
    };
    return {
        read(key) {
            try {
                const text = real()?.getItem(key) ?? memory.get(key);
                return text === undefined || text === null ? null : JSON.parse(text);
            } catch {
                return null;
            }
        },
        write(key, value) {
            const text = JSON.stringify(value);
            memory.set(key, text);
            try {
                real()?.setItem(key, text);
            } catch {
                // A full or forbidden storage: the copy in memory is what is left.
            }
        },
        keys() {
            try {
                return [...new Set([...memory.keys(), ...Object.keys(real() ?? {})])];
            } catch {
                return [...memory.keys()];
            }
        },
        remove(key) {
            memory.delete(key);
            try {
                real()?.removeItem(key);
            } catch {
                // Nothing was kept there.
            }
        },
    };
}

const local = safeStorage("localStorage");
const tab = safeStorage("sessionStorage");

const seatPrefix = "activityhost.seat.";

/** The seats of this browser: `{token, name, title, time}` by group code. */
export const seats = {
    read: (code) => local.read(seatPrefix + groupKey(code)),
    write(code, seat) {
        local.write(seatPrefix + groupKey(code), { ...(seats.read(code) ?? {}), ...seat, time: Date.now() });
    },
    remove: (code) => local.remove(seatPrefix + groupKey(code)),
    /** `{code, seat}` of every group, the one used last first. */
    all() {
        const keys = local.keys().filter((key) => key.startsWith(seatPrefix));
        const found = keys.map((key) => ({ code: key.slice(seatPrefix.length), seat: local.read(key) }));
        return found.filter(({ seat }) => seat).sort((one, other) => other.seat.time - one.seat.time);
    },
};

/** What this tab keeps over a reload: its client id, the highest ref used, where it was in each group. */
export const tabMemory = {
    read: (key) => tab.read(`activityhost.${key}`),
    write: (key, value) => tab.write(`activityhost.${key}`, value),
    remove: (key) => tab.remove(`activityhost.${key}`),
};

/** A page that is loaded again in its tab: then nobody else can have the id. */
function isReload() {
    return globalThis.performance?.getEntriesByType?.("navigation")[0]?.type === "reload";
}

/**
 * The client id of this tab. A duplicated tab inherits its original's storage, so an inherited id is announced first: if
 * another living page answers that it is its own, this tab takes a new one.
 */
export async function clientId({ waitMilliseconds = 120 } = {}) {
    const instance = randomId(12);
    const inherited = tabMemory.read("client");
    let client = inherited ?? randomId(10);
    if (typeof BroadcastChannel === "function") {
        const channel = new BroadcastChannel("activityhost.tabs");
        if (inherited && !isReload()) {
            const taken = await new Promise((resolve) => {
                const timer = setTimeout(() => resolve(false), waitMilliseconds);
                channel.onmessage = ({ data }) => {
                    if (data?.type !== "mine" || data.client !== inherited || data.instance === instance) return;
                    clearTimeout(timer);
                    resolve(true);
                };
                channel.postMessage({ type: "whose", client: inherited, instance });
            });
            if (taken) {
                client = randomId(10);
                tabMemory.write("refs", 0);
                tabMemory.remove("places");
            }
        }
        channel.onmessage = ({ data }) => {
            if (data?.type === "whose" && data.client === client && data.instance !== instance) channel.postMessage({ type: "mine", client, instance });
        };
        // In tests under Node an open channel would keep the process alive.
        channel.unref?.();
    }
    tabMemory.write("client", client);
    return client;
}
