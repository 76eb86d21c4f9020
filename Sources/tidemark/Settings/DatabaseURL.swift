/// The URL of a database, which may have a password in it.
struct DatabaseURL: Hashable, Sendable {
    let text: String

    /// The URL for logs and listings, without the password.
    var shown: String {
        self.text.replacing(#/(:\/\/[^:\/@]*):[^@]*@/#) { "\($0.output.1):***@" }
            .replacing(#/password=[^&\s]*/#) { _ in "password=***" }
    }
}
