// Inviting: the code, the link and a QR code, on a panel or in a dialog.

import { element, fill, icon, openDialog } from "../dom.js";
import { t } from "../strings.js";
import { fetchPreview } from "./name-screen.js";
import { shownCode } from "./names.js";

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** The link to give to others: who opened the page on the host's own machine needs the address that others reach. */
async function invitationLink(code) {
    const own = `${location.origin}/j/${code}`;
    if (!loopback.test(location.hostname)) return own;
    const preview = await fetchPreview(code);
    return preview?.url ?? own;
}

/** Copies `text`: also on plain http, where browsers have no clipboard for pages. Tells whether it worked. */
export async function copyText(text) {
    try {
        if (navigator.clipboard) {
            await navigator.clipboard.writeText(text);
            return true;
        }
    } catch {
        // Not allowed here: the old way may be.
    }
    const field = element("textarea", { class: "visually-hidden", value: text, readOnly: true, "aria-hidden": "true" });
    // Inside an open dialog everything outside it is inert, so the field goes there.
    const place = document.querySelector("dialog[open]") ?? document.body;
    const focused = document.activeElement;
    place.append(field);
    field.select();
    let done = false;
    try {
        done = document.execCommand("copy");
    } catch {
        done = false;
    }
    field.remove();
    focused?.focus?.();
    return done;
}

/** The invitation to `group`; a note instead of the QR code where nobody else could open the address. */
export function invitation(group) {
    const field = element("input", { class: "field link", type: "text", readOnly: true, "aria-label": t("share.link"), onFocus: () => field.select() });
    const picture = element("div", { class: "qr-place" });
    invitationLink(group.code).then((link) => {
        field.value = link;
        fill(picture, loopback.test(new URL(link).hostname) ? element("p", { class: "note warning" }, t("share.localOnly")) : qrCode(group.code, link));
    });
    return element(
        "div",
        { class: "invitation" },
        element("p", { class: "big-code", "aria-label": `${t("share.code")}: ${[...group.code].join(" ")}` }, shownCode(group.code)),
        picture,
        field,
        shareButtons(field),
        group.locked && element("p", { class: "note warning" }, icon("lock"), t("share.locked")),
    );
}

function qrCode(code, link) {
    return element("figure", { class: "qr" },
        element("img", { src: `/j/${encodeURIComponent(code)}/qr.svg`, alt: t("share.qrAlt", { url: link }), width: 240, height: 240 }),
        element("figcaption", { class: "note" }, t("share.scan")));
}

function shareButtons(field) {
    const label = element("span", {}, t("share.copy"));
    const status = element("p", { class: "note", role: "status" });
    const copy = element("button", { class: "button primary grow", type: "button" }, icon("copy"), label);
    copy.addEventListener("click", async () => {
        if (!(await copyText(field.value))) {
            status.textContent = t("share.copyFailed");
            field.focus();
            return;
        }
        label.textContent = t("share.copied");
        copy.classList.add("done");
        setTimeout(() => {
            label.textContent = t("share.copy");
            copy.classList.remove("done");
        }, 2000);
    });
    const share = navigator.share && element("button", { class: "button grow", type: "button", onClick: () => navigator.share({ url: field.value }).catch(() => {}) },
        icon("share"), t("share.native"));
    return element("div", {}, element("div", { class: "row" }, copy, share), status);
}

export function openShareDialog(group) {
    return openDialog({ title: t("share.title"), label: t("close") }, invitation(group));
}
