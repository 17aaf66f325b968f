// The story of a mail app with accounts: MailApp.swift and Account.swift are the code to look at.

try withTemporaryApp { app in
    print("A fresh install of 2.0, where the keychain still has the password of an earlier install")
    try app.keychain.save("somebody's password")
    printKeychain(app.keychain)
    printLaunch(try app.migrateSharedData())
    printKeychain(app.keychain)
}

try withTemporaryApp { app in
    try app.writeDataOfVersion1()

    print("\nAn install of 1.0 is updated to 2.0, and the widget starts first")
    try printWidget { try app.openAccountInWidget("anna") }

    print("\nThe first launch of 2.0")
    printLaunch(try app.migrateSharedData())
    printKeychain(app.keychain)
    try printAccount(app.openAccount("anna"))
    try printWidget { try app.openAccountInWidget("anna") }

    print("\nThe account ben is added: its database is new, though the install is old")
    try printAccount(app.openAccount("ben"))

    print("\nThe second launch of 2.0")
    printLaunch(try app.migrateSharedData())
    for name in ["anna", "ben"] { try printAccount(app.openAccount(name)) }

    print("\nThe account anna is deleted, and added again")
    try app.openAccount("anna").delete()
    try printAccount(app.openAccount("anna"))
}
