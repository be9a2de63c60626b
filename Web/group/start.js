// Starting an activity: at once, or after a form when it needs parameters.

import { element, openDialog } from "../dom.js";
import { localized, t, titleOf } from "../strings.js";
import { schemaForm } from "../generic/form.js";

/** The tiles of all activities; `onStart(activity)` when one is chosen. */
export function activityTiles(activities, onStart) {
    return element(
        "div",
        { class: "tiles" },
        activities.map((activity) =>
            element("button", { class: "tile-button", type: "button", onClick: () => onStart(activity) },
                element("span", { class: "symbol tile", "aria-hidden": "true" }, activity.metadata?.symbol ?? "✨"),
                element("span", { class: "tile-text" }, element("strong", {}, titleOf(activity)), element("span", { class: "note" }, localized(activity.metadata?.subtitle))))),
    );
}

/** What the host tells about one activity, its schemas above all; null when it can't. */
export async function describeActivity(name) {
    try {
        const response = await fetch(`/v1/activities/${encodeURIComponent(name)}`);
        return response.ok ? await response.json() : null;
    } catch {
        return null;
    }
}

/**
 * Asks for the parameters of `activity` where it can't start without: a form that may stay empty would only be in the way.
 * Resolves with them, or with null when the person changed their mind.
 */
export async function askParameters(activity) {
    const description = await describeActivity(activity.name);
    const schema = description?.parameters;
    if ((schema?.required ?? []).length === 0) return {};
    return new Promise((resolve) => {
        let parameters = null;
        const form = schemaForm(schema, {
            label: t("form.start"),
            onSubmit(value) {
                parameters = value;
                dialog.close();
            },
        });
        const dialog = openDialog(
            { title: t("form.startTitle", { title: titleOf(activity) }), label: t("close"), onClose: () => resolve(parameters) },
            element("div", {}, form),
        );
    });
}
