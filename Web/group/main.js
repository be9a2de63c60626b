// The page of a group, /j/CODE: from the name to the lobby to an activity, over one connection.

import { fill, element } from "../dom.js";
import { language, t, titleOf } from "../strings.js";
import { clientId, Group, groupKey, seats } from "/sdk/activityhost.js";
import { starterName } from "./avatars.js";
import { Lobby } from "./lobby.js";
import { fetchPreview, nameScreen } from "./name-screen.js";
import { rememberedName, shownCode } from "./names.js";
import { Notices } from "./notices.js";
import { explain, refusalScreen, waitScreen } from "./refusal.js";
import { Stage } from "./stage.js";
import { askParameters } from "./start.js";

class GroupPage {
    #root = document.getElementById("app");
    #notices = new Notices();
    #code;
    #group = null;
    #screen = null;
    #stage = null;
    #cards = new Map();
    /** A second click while something starts must not start a second one. */
    #isStarting = false;

    constructor(code) {
        this.#code = code;
    }

    async begin() {
        document.documentElement.lang = language;
        document.title = `${shownCode(this.#code)} · ${t("product")}`;
        this.#takeSeatFromAddress();
        const seat = seats.read(this.#code);
        if (seat && (seat.name || rememberedName.read())) {
            this.#connect(rememberedName.read() ?? seat.name);
            return;
        }
        const preview = await fetchPreview(this.#code);
        if (preview?.missing) this.#refuse({ code: "closed", closeCode: 4404 });
        else if (preview?.locked) this.#refuse({ code: "locked" });
        else if (preview?.wait) {
            this.#show(waitScreen(preview.wait));
            setTimeout(() => this.begin(), preview.wait);
        } else this.#show(nameScreen({ code: this.#code, preview, onName: (name) => this.#connect(name) }));
    }

    /** The host's own link carries the seat in its fragment: it is kept here and nowhere else, in no history either. */
    #takeSeatFromAddress() {
        const fragment = new URLSearchParams(location.hash.slice(1));
        const token = fragment.get("seat");
        if (!token) return;
        fragment.delete("seat");
        const rest = fragment.toString();
        history.replaceState(null, "", location.pathname + location.search + (rest ? `#${rest}` : ""));
        seats.remove(this.#code);
        seats.write(this.#code, { token });
    }

    async #connect(name) {
        this.#show(element("main", { class: "screen centered", "aria-busy": "true" }, element("p", { class: "loading", role: "status" }, element("span", { class: "spinner", "aria-hidden": "true" }), t("loading"))));
        const group = new Group({ group: this.#code, name, client: await clientId() });
        this.#group = group;
        let isWelcome = false;
        group.on("welcome", () => {
            if (!isWelcome) this.#welcomed();
            isWelcome = true;
        });
        group.on("state", (state, error) => this.#stateChanged(state, error, isWelcome));
        group.on("rejected", (error) => this.#rejected(error, isWelcome));
        group.on("session", (session, { isNews }) => isNews && this.#invited(session));
        group.on("sessionEnded", (session) => {
            for (const id of [session.id, session.replacedBy]) this.#cards.get(id)?.();
        });
        group.on("group", () => this.#groupChanged());
        group.open();
    }

    #welcomed() {
        const session = this.#group.rememberedSession;
        if (session) this.#join(session);
        else this.#showLobby();
    }

    #stateChanged(state, error, isWelcome) {
        if (state === "online") this.#notices.connectionBack();
        else if (state === "closed") this.#refuse(error);
        else if (error?.closeCode === 4429 && !isWelcome) this.#show(waitScreen(error.retry_ms));
        else if (error) this.#notices.connectionLost(() => this.#group.retryNow());
    }

    /** What was refused and nobody waits for. A pointer that came too late or too fast is news for authors of pages only. */
    #rejected(error, isWelcome) {
        if (!isWelcome) this.#refuse(error);
        else if (this.#group.isOnline) console.info(`The host refused a message: ${error.code}: ${error.message}`);
        else this.#notices.toast(explain(error));
    }

    #refuse(error) {
        if (!error) return;
        this.#notices.clear();
        this.#group?.close();
        this.#show(refusalScreen(error, { code: this.#group?.code ?? this.#code, again: () => this.begin() }));
    }

    #groupChanged() {
        const { code } = this.#group;
        if (code && groupKey(this.#code) !== code) {
            this.#code = code;
            history.replaceState(null, "", `/j/${code}`);
        }
        const session = this.#stage?.session;
        document.title = session ? `${titleOf(session)} · ${shownCode(code)}` : `${shownCode(code)} · ${t("product")}`;
    }

    /** Changes that only this page has, because the connection is gone. */
    get hasUnsavedChanges() {
        return this.#group !== null && !this.#group.isOnline && this.#group.state !== "closed" && this.#group.pending > 0;
    }

    // MARK: Screens

    #show(node) {
        this.#screen?.close?.();
        this.#stage = null;
        this.#screen = node instanceof Node ? null : node;
        const shown = node instanceof Node ? node : node.node;
        for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
        fill(this.#root, shown);
        shown.querySelector("h1[tabindex]")?.focus({ preventScroll: true });
    }

    #showLobby() {
        const actions = { join: (session) => this.#join(session), start: (activity) => this.#start(activity) };
        this.#show(new Lobby(this.#group, actions, this.#notices));
        this.#groupChanged();
    }

    /** Goes to a session. Its page joins it: so nothing can come before that page listens. */
    #join(session) {
        const before = this.#stage?.session;
        if (before && before !== session) before.leave();
        for (const remove of this.#cards.values()) remove();
        this.#cards.clear();
        seats.write(this.#group.code, { title: titleOf(session) });
        const actions = {
            join: (next) => this.#join(next),
            leave: () => this.#leave(),
            startNew: (old, parameters) => this.#startNew(old, parameters),
        };
        const stage = new Stage(this.#group, session, actions, this.#notices);
        this.#show(stage);
        this.#stage = stage;
        this.#groupChanged();
    }

    #leave() {
        this.#stage?.session.leave();
        this.#showLobby();
    }

    async #start(activity) {
        if (this.#isStarting) return;
        this.#isStarting = true;
        try {
            const parameters = await askParameters(activity);
            if (parameters) this.#join(await this.#group.start(activity.name, parameters));
        } catch (error) {
            this.#notices.toast(t("stage.cannotStart", { message: explain(error) }));
        } finally {
            this.#isStarting = false;
        }
    }

    async #startNew(session, parameters) {
        const stage = this.#stage;
        stage.isReplacing = true;
        try {
            this.#join(await this.#group.start(session.activity, parameters, { replaces: session.id }));
        } finally {
            stage.isReplacing = false;
        }
    }

    /** Somebody started something. In the lobby it is on the list; in an activity a card offers it. */
    #invited(session) {
        const group = this.#group;
        if (!this.#stage || session.initiator === group.member?.id) return;
        const remove = this.#notices.card({
            symbol: session.metadata?.symbol ?? "✨",
            text: t("stage.invited", { name: starterName(group, session), title: titleOf(session) }),
            action: t("lobby.join"),
            onAction: () => group.session(session.id) && this.#join(group.session(session.id)),
        });
        this.#cards.set(session.id, remove);
    }

    // MARK: What the page of an activity gets

    /** Called by `activity.js` in the frame. The session isn't joined yet: that page does it once it listens. */
    enter(id) {
        const stage = this.#stage;
        const session = stage?.session.id === id ? stage.session : null;
        if (!session) throw new Error(`Session ${id} is not on screen.`);
        session.onJoined(() => stage === this.#stage && stage.entered());
        return {
            group: this.#group,
            session,
            startNew: (parameters) => this.#startNew(session, parameters),
            leave: () => this.#leave(),
            toast: (text) => this.#notices.toast(text),
            refused: (error) => stage.refused(error),
        };
    }
}

const code = groupKey(decodeURIComponent(location.pathname.split("/")[2] ?? ""));
const page = new GroupPage(code);
window.activityHost = { enter: (session) => page.enter(session) };
window.addEventListener("beforeunload", (event) => {
    if (page.hasUnsavedChanges) event.preventDefault();
});
page.begin();
