// People as small round marks: initials on their colour, and the name always beside it or in its label.

import { element } from "../dom.js";
import { t } from "../strings.js";
import { initials } from "./names.js";

/** A group begins with its host. */
const firstMember = "m1";

/** One person's mark. */
export function avatar({ name, color }, { large = false } = {}) {
    return element("span", { class: large ? "avatar large" : "avatar", style: { "--person": color ?? "" }, title: name, "aria-hidden": "true" }, initials(name));
}

/** Up to `most` marks that overlap, then "+N". */
export function avatarStack(people, { most = 5 } = {}) {
    const shown = people.length > most ? people.slice(0, most - 1) : people;
    const rest = people.length - shown.length;
    return element(
        "span",
        { class: "avatar-stack" },
        shown.map((person) => avatar(person)),
        rest > 0 && element("span", { class: "avatar rest", "aria-hidden": "true" }, `+${rest}`),
    );
}

/** A member's name, with "(you)" where it is. */
export function nameOf(member, own) {
    return member.id === own?.id ? [member.name, " ", element("span", { class: "you" }, `(${t("you")})`)] : member.name;
}

/** Who started a session, for people: also when that person is not here. */
export function starterName(group, session) {
    const name = group.memberNamed(session?.initiator)?.name;
    return name ?? t(session?.initiator === firstMember ? "stage.theHost" : "stage.someone");
}

/** One entry for each member of those participants: two tabs are one person. */
export function peopleOf(participants) {
    return [...new Map(participants.map((participant) => [participant.member, participant])).values()];
}
