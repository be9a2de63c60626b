// The mark of the product: two circles that meet.

import { element } from "../dom.js";
import { t } from "../strings.js";

export function brand() {
    return element("a", { class: "brand", href: "/", "aria-label": t("product") }, element("img", { src: "/favicon.svg", alt: "", width: 28, height: 28 }), element("span", {}, t("product")));
}
