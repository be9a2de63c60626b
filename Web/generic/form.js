// A form made from a JSON Schema: a field for each property, checked as far as a form can; the host checks the rest.

import { element, fill, uniqueId } from "../dom.js";
import { t } from "../strings.js";
import { choices, kindOf, unwrapped, valueOf } from "./schema.js";

/** A field: `node` to show, `read()` → `{value}`, `{}` (left empty) or `{error}`. */
function fieldFor(schema, name) {
    const kind = kindOf(schema);
    if (kind === "object") return objectField(schema, name);
    if (kind === "list") return listField(schema, name);
    const id = uniqueId("field");
    const control = controlFor(kind, unwrapped(schema), id);
    const read = {
        boolean: () => ({ value: control.checked }),
        enum: () => (control.value === "" ? {} : { value: choices(schema)[Number(control.value)] }),
    }[kind] ?? (() => valueOf(schema, control.value));
    const label = element("label", { for: id }, name);
    return { id, label, control, read, isInline: kind === "boolean" };
}

function controlFor(kind, schema, id) {
    const common = { class: "field", id };
    switch (kind) {
        case "boolean":
            return element("input", { id, type: "checkbox" });
        case "enum":
            return element("select", common, element("option", { value: "" }, t("form.choose")), choices(schema).map((choice, index) => element("option", { value: String(index) }, String(choice))));
        case "color":
            return element("input", { ...common, class: "field color", type: "color", value: "#2563eb" });
        case "integer":
        case "number":
            return element("input", { ...common, type: "text", inputMode: kind === "integer" && !(schema.minimum < 0) ? "numeric" : "text", placeholder: rangeOf(schema), autocomplete: "off" });
        case "any":
            return element("textarea", { ...common, class: "field code", rows: 2, placeholder: t("form.json"), spellcheck: false });
        default:
            return (schema.maxLength ?? 0) > 500
                ? element("textarea", { ...common, rows: 2 })
                : element("input", { ...common, type: "text", autocomplete: "off" });
    }
}

function rangeOf({ minimum, maximum }) {
    return minimum !== undefined && maximum !== undefined ? `${minimum} … ${maximum}` : "";
}

function objectField(schema, name) {
    const group = propertyGroup(unwrapped(schema));
    return { node: element("fieldset", { class: "fieldset" }, element("legend", {}, name), group.nodes), read: group.read };
}

function listField(schema, name) {
    const { items, maxItems = 1000 } = unwrapped(schema);
    const fields = [];
    const rows = element("div", { class: "rows" });
    const draw = () => fill(rows, fields.map((field, index) => element("div", { class: "row" }, element("div", { class: "grow" }, field.control ?? field.node),
        element("button", { class: "button quiet square", type: "button", "aria-label": t("form.removeItem", { number: index + 1 }), onClick: () => { fields.splice(index, 1); draw(); } }, "−"))));
    const add = () => {
        if (fields.length >= maxItems) return;
        const field = fieldFor(items, `${name} ${fields.length + 1}`);
        field.control?.setAttribute("aria-label", `${name} ${fields.length + 1}`);
        fields.push(field);
        draw();
        (field.control ?? field.node).focus?.();
    };
    const read = () => {
        const results = fields.map((field) => field.read());
        const failed = results.find(({ error }) => error);
        return failed ?? { value: results.filter((result) => "value" in result).map(({ value }) => value) };
    };
    return { node: element("fieldset", { class: "fieldset" }, element("legend", {}, name), rows, element("button", { class: "button small", type: "button", onClick: add }, t("form.addItem"))), read };
}

/** The fields of an object's properties and how they read as one value. */
function propertyGroup(schema) {
    const required = new Set(schema.required ?? []);
    const fields = Object.entries(schema.properties ?? {}).map(([name, property]) => ({ name, required: required.has(name), error: element("p", { class: "error", role: "alert" }), ...fieldFor(property, name) }));
    const nodes = fields.map((field) => {
        if (field.node) return element("div", { class: "form-row" }, field.node, field.error);
        if (!field.required && !field.isInline) field.label.append(element("span", { class: "note" }, ` ${t("form.optional")}`));
        return element("div", { class: field.isInline ? "form-row inline" : "form-row" }, field.label, field.control, field.error);
    });
    const read = () => {
        const value = {};
        let failure = null;
        for (const field of fields) {
            const result = field.read();
            field.error.textContent = result.error ? t(result.error) : "";
            if (result.error) {
                failure ??= result;
                if (failure === result) field.control?.focus();
            } else if ("value" in result && (field.required || !isBlank(result.value))) value[field.name] = result.value;
            else if (field.required && kindOf(schema.properties[field.name]) === "text") value[field.name] = "";
        }
        return failure ?? { value };
    };
    return { nodes, read };
}

/** An object or list in which nothing was filled in. */
function isBlank(value) {
    return value !== null && typeof value === "object" && Object.keys(value).length === 0;
}

/** The form for `schema`, an object or any other type; `onSubmit(value)` may return a promise that says when it is done. */
export function schemaForm(schema, { label, onSubmit }) {
    const kind = kindOf(schema);
    const group = kind === "object" ? propertyGroup(unwrapped(schema)) : singleField(schema);
    const button = element("button", { class: "button primary", type: "submit" }, label);
    const error = element("p", { class: "error", role: "alert" });
    const submit = async (event) => {
        event.preventDefault();
        error.textContent = "";
        const result = group.read();
        if (result.error) return;
        button.disabled = true;
        try {
            await onSubmit(result.value);
        } catch (failure) {
            error.textContent = failure.message;
        }
        button.disabled = false;
    };
    return element("form", { class: "schema-form", noValidate: true, onSubmit: submit }, group.nodes, error, element("div", { class: "row end" }, button));
}

function singleField(schema) {
    const field = fieldFor(schema, t("form.json"));
    return { nodes: [field.node ?? element("div", { class: "form-row" }, field.label, field.control)], read: () => {
        const result = field.read();
        return "value" in result || result.error ? result : { value: null };
    } };
}
