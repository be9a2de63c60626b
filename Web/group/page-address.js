// Where the page of an activity is.

const asked = new Map();

async function find(group, activity) {
    const known = group.activities.find(({ name }) => name === activity)?.page;
    const own = `/activities/${encodeURIComponent(activity)}/index.html`;
    const hasPage = typeof known === "boolean" ? known : await fetch(own, { method: "HEAD" }).then((response) => response.ok, () => true);
    return hasPage ? own : "/web/generic.html";
}

/** The address of an activity's page; those without one get the generic page. Asked for early, it is there when somebody joins. */
export function pageAddress(group, activity) {
    if (!asked.has(activity)) asked.set(activity, find(group, activity));
    return asked.get(activity);
}
