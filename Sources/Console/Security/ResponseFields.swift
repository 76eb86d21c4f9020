import HTTPTypes
import Hummingbird

/// The fields that every response has, so that a browser does nothing but show it.
enum ResponseFields {
    /// Scripts and styles come from files alone, and text never becomes markup in the browser.
    static let contentPolicy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
        + "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
        + "require-trusted-types-for 'script'"
    /// For bytes of an asset, which may be a document.
    static let assetPolicy = "sandbox; default-src 'none'"

    /// Adds what a response does not have yet.
    static func complete(_ fields: inout HTTPFields) {
        let all: [(HTTPField.Name, String)] = [
            (.contentSecurityPolicy, self.contentPolicy),
            (.xContentTypeOptions, "nosniff"),
            (.cacheControl, "no-store"),
            // Without any referrer a browser sends the origin of our own forms as `null`.
            (Self.referrerPolicy, "same-origin"),
            (Self.openerPolicy, "same-origin"),
            (Self.resourcePolicy, "same-origin"),
        ]
        for (name, value) in all where fields[name] == nil { fields[name] = value }
    }

    private static let referrerPolicy = Self.name("Referrer-Policy")
    private static let openerPolicy = Self.name("Cross-Origin-Opener-Policy")
    private static let resourcePolicy = Self.name("Cross-Origin-Resource-Policy")
    static let fetchSite = Self.name("Sec-Fetch-Site")
    static let fetchDestination = Self.name("Sec-Fetch-Dest")
    static let lastEventID = Self.name("Last-Event-ID")
    /// The secret of the session's forms, beside a body that is a file.
    static let formSecret = Self.name("X-Form-Secret")
    static let refresh = Self.name("Refresh")

    private static func name(_ text: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(text) else { preconditionFailure("not the name of a field") }
        return name
    }
}
