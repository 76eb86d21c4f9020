public import Foundation

extension NSNotification.Name {
    /// Posted when the server's response to a container's token changes.
    ///
    /// That is the case when it refuses a token that it accepted before, or accepts it again. The
    /// notification is also posted when a server takes connections again after `accountStatus` was
    /// `temporarilyUnavailable`, and when the operator restricts the account or lifts that; meanwhile
    /// the container asks by itself.
    ///
    /// Its object is `nil`, as Apple's. It is posted on any thread, when a request, `accountStatus`
    /// or a listener finds out.
    public static let CKAccountChanged = NSNotification.Name("CKAccountChangedNotification")
}
