import Foundation

/// A response, as it came.
struct HTTPReply: Sendable {
    let status: Int
    /// Names in lower case.
    let fields: [String: String]
    let body: [UInt8]

    var text: String { String(decoding: self.body, as: UTF8.self) }
    var json: JSONValue { JSONValue.parse(self.body) }
    /// `serverErrorCode` of a request that fails as a whole.
    var code: String { self.json["serverErrorCode"].string }
    var reason: String { self.json["reason"].string }
}

/// A client of HTTP/1.1 that sends any bytes.
///
/// SAFETY: tests make one call at a time; each runs on a thread of its own.
final class HTTPPeer: @unchecked Sendable {
    private let descriptor: Int32
    private var bytes: [UInt8] = []
    private(set) var isClosed = false

    init(port: Int) {
        self.descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        // SAFETY: the address outlives the call.
        _ = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(self.descriptor, $0, size) }
        }
        var timeout = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(
            self.descriptor,
            SOL_SOCKET,
            SO_RCVTIMEO,
            &timeout,
            socklen_t(MemoryLayout<timeval>.size)
        )
    }

    deinit { close(self.descriptor) }

    /// Sends what the server still takes.
    func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            // SAFETY: the bytes are read within the call.
            let count = rest.withUnsafeBytes {
                Foundation.send(self.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    func send(_ text: String) { self.send(Array(text.utf8)) }

    /// Sends nothing more.
    func endSending() { shutdown(self.descriptor, Int32(SHUT_WR)) }

    /// The next response; `nil` if the connection ends before it.
    func receive(hasBody: Bool = true) async -> HTTPReply? {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: self.read(hasBody: hasBody)) }
        }
    }

    /// Whether the server ends the connection, and sends nothing more.
    func ends() async -> Bool {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(returning: self.bytes.isEmpty && !self.more() && self.isClosed)
            }
        }
    }

    private func more() -> Bool {
        var piece = [UInt8](repeating: 0, count: 65_536)
        let count = recv(self.descriptor, &piece, piece.count, 0)
        if count <= 0 { self.isClosed = count == 0 || errno == ECONNRESET }
        guard count > 0 else { return false }
        self.bytes += piece[..<count]
        return true
    }

    private func read(hasBody: Bool) -> HTTPReply? {
        let end = Array("\r\n\r\n".utf8)
        var headEnd: Int?
        while headEnd == nil {
            headEnd = self.bytes.indices.dropLast(3).first { self.bytes[$0..<($0 + 4)].elementsEqual(end) }
            if headEnd == nil, !self.more() { return nil }
        }
        let head = String(decoding: self.bytes[..<(headEnd ?? 0)], as: UTF8.self)
        self.bytes.removeFirst((headEnd ?? 0) + 4)
        var lines = head.components(separatedBy: "\r\n")
        let status = Int(lines.removeFirst().split(separator: " ").dropFirst().first ?? "") ?? 0
        var fields: [String: String] = [:]
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1)
            fields[parts[0].lowercased()] =
                parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
        }
        let length = hasBody ? Int(fields["content-length"] ?? "") ?? 0 : 0
        while self.bytes.count < length { if !self.more() { return nil } }
        defer { self.bytes.removeFirst(length) }
        return HTTPReply(status: status, fields: fields, body: Array(self.bytes.prefix(length)))
    }
}

/// A value of JSON, for expectations.
enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// By Foundation, the opposite side of the server's writer; `null` for what is not JSON.
    static func parse(_ bytes: [UInt8]) -> JSONValue {
        (try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)).map {
            JSONValue($0)
        }
            ?? .null
    }

    private init(_ value: Any) {
        switch value {
        case let text as String: self = .string(text)
        case let array as [Any]: self = .array(array.map { JSONValue($0) })
        case let object as [String: Any]: self = .object(object.mapValues { JSONValue($0) })
        case let number as NSNumber:
            self =
                CFBooleanType.isBoolean(number) ? .bool(number.boolValue) : .number(number.doubleValue)
        default: self = .null
        }
    }

    subscript(_ name: String) -> JSONValue {
        if case .object(let members) = self { members[name] ?? .null } else { .null }
    }
    subscript(_ number: Int) -> JSONValue {
        if case .array(let elements) = self, elements.indices.contains(number) {
            elements[number]
        } else {
            .null
        }
    }
    var string: String { if case .string(let text) = self { text } else { "" } }
    var number: Double? { if case .number(let number) = self { number } else { nil } }
    var array: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }
    var names: Set<String> { if case .object(let members) = self { Set(members.keys) } else { [] } }
}

private enum CFBooleanType {
    static func isBoolean(_ number: NSNumber) -> Bool { String(cString: number.objCType) == "c" }
}
