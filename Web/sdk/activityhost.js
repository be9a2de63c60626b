// The browser SDK of activityhost: an ES module that needs no build step.
//
//     import { connect } from "/sdk/activityhost.js";
//     const group = await connect({ group: "BCD-FGH", name: "Ada" });
//     for await (const session of group.sessions()) {
//         session.on("add_points", (body, { from, seq }) => …);
//         await session.join();                       // session.view is the state now
//         const { seq } = await session.send("add_points", { player: "kim", points: 5 });
//     }
//
// Pages of activities use "/sdk/activity.js" instead: it hands them the session that the person joined.

export { connect, Group, roles } from "./group.js";
export { GroupSession } from "./session.js";
export { ActivityError } from "./errors.js";
export { HostClock } from "./clock.js";
export { clientId, groupKey, randomId, seats, tabMemory } from "./seat.js";
