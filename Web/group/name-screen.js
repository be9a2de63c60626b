// The step before the group: what the person is called, beside a card that says where they are going.

import { element, icon, uniqueId } from "../dom.js";
import { localized, t } from "../strings.js";
import { cleanName, rememberedName, shownCode, suggestName } from "./names.js";

/** The preview of a group; `{missing}` when the host knows none, `{wait}` (ms) after too many tries, null when it can't tell now. */
export async function fetchPreview(code) {
    try {
        const response = await fetch(`/v1/groups/${encodeURIComponent(code)}`);
        if (response.status === 404) return { missing: true };
        if (response.status === 429) return { wait: (await response.json()).error?.retry_ms ?? 30_000 };
        return response.ok ? await response.json() : null;
    } catch {
        return null;
    }
}

function previewCard(code, preview) {
    const sessions = preview?.sessions ?? [];
    const newest = sessions.at(-1) ?? preview?.activity ?? null;
    const members = Array.isArray(preview?.members) ? preview.members.length : preview?.members;
    return element(
        "div",
        { class: "preview" },
        element("span", { class: "symbol tile", "aria-hidden": "true" }, newest?.metadata?.symbol ?? "👋"),
        element("div", {},
            element("strong", {}, localized(newest?.metadata?.title) || t("preview.group", { code: shownCode(code) })),
            element("p", { class: "note" }, newest && `${t("preview.group", { code: shownCode(code) })} · `,
                typeof members === "number" && (members > 0 ? t("preview.members", { count: members }) : t("preview.empty")))),
    );
}

/** Asks for a name; `onName` gets it. */
export function nameScreen({ code, preview, onName }) {
    const id = uniqueId("name");
    const error = element("p", { class: "error", role: "alert", id: `${id}-error` });
    const field = element("input", {
        class: "field large", id, type: "text", value: rememberedName.read() ?? suggestName(), maxLength: 60, autocomplete: "nickname",
        "aria-describedby": `${id}-error`, enterkeyhint: "go", spellcheck: false,
    });
    const another = element("button", { class: "button quiet square", type: "button", "aria-label": t("name.another"), title: t("name.another"), onClick: () => {
        field.value = suggestName();
    } }, icon("refresh"));
    const submit = (event) => {
        event.preventDefault();
        const name = cleanName(field.value);
        if (!name) {
            error.textContent = t("name.empty");
            field.focus();
            return;
        }
        rememberedName.write(name);
        onName(name);
    };
    return element(
        "main",
        { class: "screen centered" },
        element("form", { class: "panel", onSubmit: submit },
            previewCard(code, preview),
            element("h1", { tabIndex: -1 }, t("name.title")),
            element("label", { class: "visually-hidden", for: id }, t("name.label")),
            element("div", { class: "with-button" }, field, another),
            error,
            element("button", { class: "button primary wide", type: "submit" }, t("name.join")),
            element("p", { class: "note centered-text" }, t("name.note"))),
    );
}
