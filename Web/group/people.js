// The people of the group: a list, the own name, and what moderators may do.

import { element, fill, icon, openDialog, uniqueId } from "../dom.js";
import { t } from "../strings.js";
import { roles } from "/sdk/activityhost.js";
import { avatar, nameOf } from "./avatars.js";
import { cleanName, rememberedName, shownCode } from "./names.js";
import { explain } from "./refusal.js";

/** Members as a list of names with their roles. */
export function memberList(group) {
    return element(
        "ul",
        { class: "people" },
        group.members.map((member) =>
            element("li", {}, avatar(member), element("span", { class: "person-name" }, nameOf(member, group.member)),
                member.role !== "participant" && element("span", { class: "role" }, t(`role.${member.role}`)))),
    );
}

/** Shows everybody, with the controls that the own role allows. It follows the group until it is closed. */
export function openPeopleDialog(group, notices) {
    const list = element("div");
    const run = (request) => request.catch((error) => notices.toast(explain(error)));
    const draw = () => {
        // Somebody's change must not take away the field that is being typed in or the question that is open.
        if (list.contains(document.activeElement) && document.activeElement.matches("input[type=text], select")) return;
        if (list.querySelector("[data-asking]")) return;
        fill(list, ownName(group, run), element("ul", { class: "people manage" }, group.members.map((member) => memberRow(group, member, run))), groupControls(group, run, notices));
    };
    draw();
    const stop = [group.on("members", draw), group.on("group", draw)];
    list.addEventListener("focusout", () => queueMicrotask(draw));
    openDialog({ title: t("people.title"), label: t("close"), onClose: () => stop.forEach((each) => each()) }, list);
}

function ownName(group, run) {
    const id = uniqueId("own-name");
    const field = element("input", { class: "field", id, type: "text", value: group.member?.name ?? "", maxLength: 60, autocomplete: "nickname" });
    const submit = (event) => {
        event.preventDefault();
        const name = cleanName(field.value);
        field.blur();
        if (!name || name === group.member.name) return;
        rememberedName.write(name);
        run(group.rename(name));
    };
    return element("form", { class: "own-name", onSubmit: submit },
        element("label", { for: id }, t("people.rename")),
        element("div", { class: "row" }, field, element("button", { class: "button", type: "submit" }, t("people.save"))));
}

function memberRow(group, member, run) {
    const mayManage = group.isAtLeast("moderator") && member.id !== group.member?.id && group.isAtLeast(member.role);
    const row = element("li", {}, avatar(member), element("span", { class: "person-name" }, nameOf(member, group.member)));
    if (!mayManage) {
        row.append(element("span", { class: "role" }, t(`role.${member.role}`)));
        return row;
    }
    const allowed = roles.filter((role) => group.isAtLeast(role));
    const select = element("select", { class: "field compact", "aria-label": t("people.role", { name: member.name }) },
        allowed.map((role) => element("option", { value: role, selected: role === member.role }, t(`role.${role}`))));
    select.addEventListener("change", () => {
        select.blur();
        run(group.setRole(member.id, select.value));
    });
    const remove = element("button", { class: "button quiet danger", type: "button" }, t("people.remove"));
    remove.addEventListener("click", () => {
        row.dataset.asking = "";
        const done = (request) => {
            delete row.dataset.asking;
            if (request) run(request());
            row.replaceWith(memberRow(group, member, run));
        };
        const yes = element("button", { class: "button danger-fill", type: "button", onClick: () => done(() => group.remove(member.id)) }, t("people.removeYes"));
        fill(row, element("span", { class: "person-name" }, t("people.removeSure", { name: member.name }),
            !group.locked && element("span", { class: "note" }, t("people.removeNote"))),
            element("button", { class: "button quiet", type: "button", onClick: () => done() }, t("cancel")), yes);
        yes.focus();
    });
    row.append(select, remove);
    return row;
}

function groupControls(group, run, notices) {
    if (!group.isAtLeast("moderator")) return null;
    const toggle = element("input", { type: "checkbox", role: "switch", checked: group.locked, onChange: () => run(group.lock(toggle.checked)) });
    const renew = async () => {
        await run(group.newCode());
        notices.toast(t("people.newCodeDone", { code: shownCode(group.code) }));
    };
    return element(
        "div",
        { class: "controls" },
        element("label", { class: "control" }, element("span", { class: "grow" }, element("strong", {}, t("people.lock")), element("span", { class: "note" }, t("people.lockNote"))), toggle),
        element("div", { class: "control" }, element("span", { class: "grow" }, element("strong", {}, t("people.newCode")), element("span", { class: "note" }, t("people.newCodeNote"))),
            element("button", { class: "button", type: "button", onClick: renew }, icon("refresh"), t("people.newCode"))),
    );
}
