// The page's words, in English and in simplified Chinese. `{count}` and the like are filled in.

const english = {
    title: "Draw Together", canvas: "Drawing canvas", textOnCanvas: "Text", actions: "Actions", tools: "Tools", style: "Colour and size",
    canvasHint: "Press ? for all keys. With a shape tool, Enter puts a shape into the middle. The list of objects is in the menu.",
    emptyTitle: "Draw something", emptyHint: "Everyone here sees it as you draw.",
    select: "Select", pen: "Pen", eraser: "Eraser", line: "Line", arrow: "Arrow", rectangle: "Rectangle", ellipse: "Ellipse", text: "Text", shapes: "Shapes",
    ink: "Stroke",
    undo: "Undo", redo: "Redo", zoomIn: "Zoom in", zoomOut: "Zoom out", zoomFit: "Zoom to fit", menu: "Menu",
    color: "Colour", size: "Size", sizeNames: ["Thin", "Medium", "Thick", "Very thick"], filled: "Fill shapes", customColor: "Another colour",
    colors: { ink: "Ink", grey: "Grey", red: "Red", orange: "Orange", yellow: "Yellow", green: "Green", teal: "Teal", blue: "Blue", violet: "Violet", pink: "Pink" },
    selection: "Selection", editText: "Edit text", duplicate: "Duplicate", delete: "Delete",
    newCanvas: "New canvas…", import: "Import Excalidraw file…", export: "Download…", objects: "Objects", pressure: "Thickness from pressure",
    penOnly: "Only the pen draws", clear: "Clear canvas", help: "Keys and gestures",
    exportTitle: "Download", format: "Format", png: "PNG", svg: "SVG", what: "Content", everything: "Everything", viewOnScreen: "What is on screen",
    background: "Background", white: "White", transparent: "Transparent", scale: "Size", cancel: "Cancel", download: "Download", close: "Close",
    newTitle: "Start a new canvas?", newText: "This canvas ends for everyone. The others are invited to the new one.", newYes: "New canvas",
    clearTitle: "Clear the canvas for everyone?", clearText: "You can undo this.", clearYes: "Clear",
    viewOnly: "View only", over: "This canvas has ended", waiting: "Offline. {count} changes are kept here", waitingOne: "Offline. One change is kept here", reconnecting: "Offline", joining: "Opening the canvas…",
    nothingToUndo: "Nothing of yours to undo", nothingToRedo: "Nothing to redo", undone: "Undone", redone: "Redone",
    changedSince: "Somebody changed or erased it since, so it stays as it is", erasedMeanwhile: "Somebody erased this meanwhile", keptText: "Somebody erased this text. Yours is kept as a new one.",
    full: "This canvas is full: erase something or start a new one", tooMuchOffline: "Too many changes wait for the connection", refused: "That was not accepted",
    cleared: "Canvas cleared. Undo brings it back.", clearedBy: "{name} cleared the canvas", deleted: "Deleted: {count}", duplicated: "Duplicated: {count}", selected: "Selected: {count}",
    selectedOne: "Selected: {name}", imported: "Imported: {count}", skipped: "Imported: {count}. Left out: {skipped}", notADrawing: "This is not an Excalidraw file",
    nothingInIt: "There is nothing to draw in this file", penMode: "Pen found: only the pen draws now, fingers move the canvas", textIsLong: "Text is at most {count} characters",
    nothingToExport: "There is nothing to download yet", tooLarge: "The picture is too large", couldNotStart: "The new canvas could not be started", mayNotStart: "Only who started this canvas and moderators can start a new one", noObjects: "Nothing is on the canvas.", byName: "by {name}",
    keys: [
        ["V · P · E", "Select, pen, eraser"], ["L · A · R · O · T", "Line, arrow, rectangle, ellipse, text"], ["1 – 4", "Size"], ["Ctrl+Z / Ctrl+Shift+Z", "Undo and redo your own work"],
        ["Ctrl+A / Ctrl+D", "Select all, duplicate"], ["Delete", "Delete what is selected"], ["Arrows", "Move what is selected; with Shift: further; with Alt: resize"],
        ["N / Shift+N", "Select the next or the last object"], ["Enter", "Put a shape into the middle, or edit the text"], ["Shift", "Squares, circles, straight angles"], ["Space or middle button", "Drag the canvas"],
        ["Wheel / Ctrl+wheel", "Scroll, zoom"], ["Two fingers", "Move and zoom"], ["Shift+1 / Ctrl+0", "Zoom to fit, 100%"], ["Esc", "Stop, select nothing"],
    ],
};

const chinese = {
    title: "一起画画", canvas: "画布", textOnCanvas: "文字", actions: "操作", tools: "工具", style: "颜色和粗细",
    canvasHint: "按 ? 查看所有按键。选中图形工具时，回车会在屏幕中央放一个图形。菜单里有对象列表。",
    emptyTitle: "画点什么吧", emptyHint: "你画的时候大家都能看到。",
    select: "选择", pen: "画笔", eraser: "橡皮", line: "直线", arrow: "箭头", rectangle: "矩形", ellipse: "椭圆", text: "文字", shapes: "图形", ink: "笔画",
    undo: "撤销", redo: "重做", zoomIn: "放大", zoomOut: "缩小", zoomFit: "显示全部", menu: "菜单",
    color: "颜色", size: "粗细", sizeNames: ["细", "中", "粗", "很粗"], filled: "填充图形", customColor: "其他颜色",
    colors: { ink: "墨色", grey: "灰色", red: "红色", orange: "橙色", yellow: "黄色", green: "绿色", teal: "青色", blue: "蓝色", violet: "紫色", pink: "粉色" },
    selection: "所选内容", editText: "编辑文字", duplicate: "复制一份", delete: "删除",
    newCanvas: "新画布…", import: "导入 Excalidraw 文件…", export: "下载…", objects: "对象", pressure: "按压力变粗细",
    penOnly: "只用触控笔画", clear: "清空画布", help: "按键和手势",
    exportTitle: "下载", format: "格式", png: "PNG", svg: "SVG", what: "内容", everything: "全部", viewOnScreen: "屏幕上的部分",
    background: "背景", white: "白色", transparent: "透明", scale: "大小", cancel: "取消", download: "下载", close: "关闭",
    newTitle: "开始新画布？", newText: "这块画布会对所有人结束，其他人会收到新画布的邀请。", newYes: "新画布",
    clearTitle: "为所有人清空画布？", clearText: "可以撤销。", clearYes: "清空",
    viewOnly: "仅可查看", over: "这块画布已结束", waiting: "已离线，{count} 处改动保存在本机", waitingOne: "已离线，1 处改动保存在本机", reconnecting: "已离线", joining: "正在打开画布…",
    nothingToUndo: "没有可撤销的内容", nothingToRedo: "没有可重做的内容", undone: "已撤销", redone: "已重做",
    changedSince: "之后有人改过或擦掉了它，因此保持原样", erasedMeanwhile: "有人已经擦掉了它", keptText: "有人擦掉了这段文字，你的内容已另存为新的文字。",
    full: "画布已满。请擦掉一些内容或开始新画布。", tooMuchOffline: "等待连接的改动太多了", refused: "未被接受",
    cleared: "画布已清空，可以撤销。", clearedBy: "{name} 清空了画布", deleted: "已删除 {count} 个", duplicated: "已复制 {count} 个", selected: "已选择 {count} 个",
    selectedOne: "已选择：{name}", imported: "已导入 {count} 个", skipped: "已导入 {count} 个，略过 {skipped} 个", notADrawing: "这不是 Excalidraw 文件",
    nothingInIt: "文件里没有可画的内容", penMode: "检测到触控笔：现在只用笔画，手指移动画布", textIsLong: "文字最多 {count} 个字符",
    nothingToExport: "还没有可下载的内容", tooLarge: "图片太大了", couldNotStart: "无法开始新画布", mayNotStart: "只有发起这块画布的人和管理员可以开始新画布", noObjects: "画布上什么都没有。", byName: "{name} 画的",
    keys: [
        ["V · P · E", "选择、画笔、橡皮"], ["L · A · R · O · T", "直线、箭头、矩形、椭圆、文字"], ["1 – 4", "粗细"], ["Ctrl+Z / Ctrl+Shift+Z", "撤销和重做自己的操作"],
        ["Ctrl+A / Ctrl+D", "全选、复制一份"], ["Delete", "删除所选"], ["方向键", "移动所选；加 Shift 移得更远，加 Alt 改变大小"],
        ["N / Shift+N", "选择下一个或上一个对象"], ["回车", "在中央放一个图形，或编辑文字"], ["Shift", "正方形、圆、整角度"], ["空格或中键", "拖动画布"],
        ["滚轮 / Ctrl+滚轮", "滚动、缩放"], ["双指", "移动和缩放"], ["Shift+1 / Ctrl+0", "显示全部、100%"], ["Esc", "停止、取消选择"],
    ],
};

const isChinese = /^zh\b/i.test(globalThis.navigator?.language ?? "en");
const words = isChinese ? chinese : english;

/** The language of the page, for `lang`. */
export const language = isChinese ? "zh-Hans" : "en";
export const tables = { english, chinese };

/** The words of that name, with `{…}` filled in. */
export function t(name, values = {}) {
    const text = words[name];
    return typeof text === "string" ? text.replace(/\{(\w+)\}/g, (_, key) => String(values[key] ?? "")) : text;
}

/** Puts words into everything below `root` that asks for them. */
export function translate(root) {
    document.documentElement.lang = language;
    for (const element of root.querySelectorAll("[data-text]")) element.textContent = t(element.dataset.text);
    for (const element of root.querySelectorAll("[data-label]")) {
        const label = t(element.dataset.label);
        element.setAttribute("aria-label", label);
        if (element.tagName !== "BUTTON") continue;
        element.dataset.tip = element.dataset.keys ? `${label}  ${element.dataset.keys}` : label;
    }
}
