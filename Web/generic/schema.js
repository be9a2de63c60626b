// JSON Schemas of messages and parameters as far as forms need them: which kind of field, what a text means as a value.

/** The kind of field for a schema: `object`, `list`, `enum`, `boolean`, `integer`, `number`, `color`, `text`, `any`. */
export function kindOf(schema = {}) {
    const options = optionsOf(schema);
    if (options) return "enum";
    const type = typeOf(schema);
    if (type === "object") return schema.properties ? "object" : "any";
    if (type === "array") return ["object", "array", undefined].includes(typeOf(schema.items ?? {})) ? "any" : "list";
    if (type === "string") return isColor(schema) ? "color" : "text";
    return ["boolean", "integer", "number"].includes(type) ? type : "any";
}

/** The one type beside null. */
function typeOf(schema) {
    if (Array.isArray(schema.type)) return schema.type.find((type) => type !== "null");
    if (schema.type) return schema.type;
    const branch = (schema.anyOf ?? schema.oneOf)?.find(({ type }) => type !== "null");
    return branch ? typeOf(branch) : undefined;
}

/** The schema without its "or null". */
export function unwrapped(schema = {}) {
    const branch = (schema.anyOf ?? schema.oneOf)?.find(({ type }) => type !== "null");
    return branch ?? schema;
}

function optionsOf(schema) {
    const options = unwrapped(schema).enum;
    return options?.filter((option) => option !== null);
}

export function choices(schema) {
    return optionsOf(schema) ?? [];
}

function isColor(schema) {
    const { format, pattern } = unwrapped(schema);
    return format === "color" || /^\^#\[0-9a-f/i.test(pattern ?? "");
}

/** What stands in a field, as a value: `{value}`, `{}` when it is left empty, or `{error}`, a key of the string table. */
export function valueOf(schema, text) {
    const kind = kindOf(schema);
    const trimmed = text.trim();
    if (kind === "text") return text === "" ? {} : { value: text };
    if (trimmed === "") return {};
    if (kind === "integer") return /^[+-]?\d+$/.test(trimmed) ? { value: Number(trimmed) } : { error: "form.badNumber" };
    if (kind === "number") {
        const number = Number(trimmed);
        return Number.isFinite(number) ? { value: number } : { error: "form.badNumber" };
    }
    if (kind === "any") {
        try {
            return { value: JSON.parse(trimmed) };
        } catch {
            return { error: "form.badJson" };
        }
    }
    return { value: trimmed };
}
