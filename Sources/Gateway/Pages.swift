internal import WebSockets

/// Serves the files of the host's own pages, of activities' pages and of the operator's media.
struct Pages {
    let web: ServedFolder
    let media: ServedFolder?

    init(_ configuration: GatewayConfiguration) {
        web = ServedFolder(path: configuration.webFolder)
        media = configuration.mediaFolder.map { ServedFolder(path: $0) }
    }

    /// A file of the host's own pages.
    func serveWeb(_ visit: Visit, _ components: [String], status: Int = 200) {
        serve(web.open(components), visit, status: status)
    }

    /// A file of an activity's `page/`; one without a page has the generic page for its own.
    func serveActivity(_ visit: Visit, _ card: ActivityCard?, _ components: [String]) {
        guard let card else { return visit.answer(Refusal.notFound) }
        let path = components.last == "" ? components.dropLast() + ["index.html"] : components
        if let folder = card.folder {
            serve(ServedFolder(path: folder, inside: ["page"]).open(path), visit)
        } else {
            serve(path == ["index.html"] ? web.open(["generic.html"]) : nil, visit)
        }
    }

    func serveMedia(_ visit: Visit) {
        serve(media?.open(visit.captures), visit)
    }

    private func serve(_ file: ServedFile?, _ visit: Visit, status: Int = 200) {
        guard let file else { return visit.answer(Refusal.notFound) }
        var headers: [HTTPHeaders.Field] = [
            .init(name: "content-type", value: ContentType.of(file.name)),
            .init(name: "etag", value: file.entityTag),
            .init(name: "cache-control", value: "no-cache"),
            .init(name: "accept-ranges", value: "bytes"),
        ]
        headers += PagePolicy(caller: visit.caller).headers
        if status == 200, isKnown(file.entityTag, to: visit.request) {
            file.close()
            return visit.answer(HTTPResponse(status: 304, headers: headers))
        }
        switch status == 200 ? range(of: file, visit.request) : .whole {
        case .whole:
            let body = HTTPResponse.Body.file(descriptor: file.descriptor, offset: 0, length: file.size)
            visit.answer(HTTPResponse(status: status, headers: headers, body: body))
        case .part(let bytes):
            headers.append(.init(name: "content-range", value: "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(file.size)"))
            let body = HTTPResponse.Body.file(descriptor: file.descriptor, offset: bytes.lowerBound, length: bytes.count)
            visit.answer(HTTPResponse(status: 206, headers: headers, body: body))
        case .unsatisfiable:
            file.close()
            var response = Refusal(416, "range_not_satisfiable", "the file has \(file.size) bytes").response
            response.headers.append(.init(name: "content-range", value: "bytes */\(file.size)"))
            visit.answer(response)
        }
    }

    private func range(of file: ServedFile, _ request: HTTPRequest) -> ByteRange {
        // A part is only of use to who has the rest of the same file.
        if let condition = request.headers["if-range"], condition != file.entityTag { return .whole }
        return request.method == "GET" ? ByteRange(header: request.headers["range"], size: file.size) : .whole
    }

    private func isKnown(_ entityTag: String, to request: HTTPRequest) -> Bool {
        request.headers.tokens("if-none-match").contains { tag in
            tag == "*" || (tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]) == entityTag
        }
    }
}

/// What a page that this host serves may load, connect to and be embedded in.
struct PagePolicy {
    let caller: Caller

    var headers: [HTTPHeaders.Field] {
        let host = caller.host.text
        let policy = [
            "default-src 'self'", "script-src 'self'", "style-src 'self'", "img-src 'self' data: blob:", "media-src 'self' blob:",
            "connect-src 'self' ws://\(host) wss://\(host)", "frame-src 'self'", "frame-ancestors 'self'", "base-uri 'none'",
            "form-action 'self'", "object-src 'none'",
        ]
        var headers = [HTTPHeaders.Field(name: "content-security-policy", value: policy.joined(separator: "; "))]
        // Browsers ignore it on a plain http origin and complain about it in the console.
        if caller.origin.scheme == .https || caller.host.isLoopback {
            headers.append(.init(name: "cross-origin-opener-policy", value: "same-origin"))
        }
        return headers
    }
}
